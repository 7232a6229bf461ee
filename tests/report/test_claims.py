"""Claims in words: they say what was reached, and reassure nobody without reason."""

import pytest

from medveil.report.claims import in_words, verdict

PARAMETERS = {
    "k-anonymity": {"k": 5},
    "l-diversity": {"l": 2, "variant": "distinct", "c": None},
    "t-closeness": {"t": 2.0, "distance": "variational"},
    "differential-privacy": {"epsilon": 0.5, "delta": 0.0},
}


def claim(model, achieved, **more):
    """A claim as a manifest holds it."""
    about = model.startswith(("l-", "t-"))
    return {
        "model": model,
        "summary": f"{model} as asked",
        "attribute": "ill" if about else None,
        "on": None,
        "parameters": PARAMETERS.get(model.removesuffix(" with counterfeits"), {}),
        "required": {},
        "achieved": achieved,
        "holds": True,
        "basis": "proved again from the files",
        **more,
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (claim("k-anonymity", {"k": 5}), "from fewer than 4 others"),
        (claim("k-anonymity", {"k": 5}, on=["age", "sex"]), "others by age, sex"),
        (claim("k-anonymity", {"k": 1}), "nothing hides"),
        (claim("k-anonymity", {"k": 5}, counting="with-counterfeits"), "Counterfeit records are counted in"),
        (claim("l-diversity", {"l": 3}), "3 different values"),
        (claim("l-diversity", {"l": 1}), "may tell it"),
        (claim("l-diversity", {"l": 2.5}, parameters={"l": 2, "variant": "entropy"}), "counted by entropy l-diversity"),
        (claim("t-closeness", {"t": 1.9}), "a distance of 1.9"),
        (claim("differential-privacy", {}), "e to the power 0.5"),
        (
            claim("differential-privacy", {}, parameters={"epsilon": 0.5, "delta": 1e-6}),
            "except with a probability of 1e-06",
        ),
        (claim("a model of tomorrow", {"x": 1}), "A model of tomorrow as asked."),
        (claim("k-anonymity", {"k": 5}, parameters={"k": "many"}), "K-anonymity as asked."),
    ],
)
def test_words(given, words):
    assert words in in_words(given)


def test_only_a_release_for_publication_whose_claims_hold_is_good():
    held = claim("k-anonymity", {"k": 5})
    assert verdict([held], "for publication").good
    assert not verdict([held], "repeatable, not for publication").good
    assert not verdict([{**held, "holds": False}], "for publication").good
    assert not verdict([], "made without a guarantee").good
    assert "made without a guarantee" in verdict([], "made without a guarantee").sentence


def test_a_claim_that_medveil_has_no_check_for_comes_first_and_is_never_good():
    foreign = claim("k-map", None, holds=None, basis="not checked by medveil")
    told = verdict([claim("k-anonymity", {"k": 5}), foreign], "in part not checked by medveil")
    assert not told.good
    assert told.sentence == (
        "This release is in part not checked by medveil: medveil has no check of its own for 'k-map'. "
        "Its other claims hold."
    )
    failed = claim("k-anonymity", {"k": 1}, holds=False)
    assert verdict([failed, foreign], "x").sentence == "Not every claim of this release was proved."
