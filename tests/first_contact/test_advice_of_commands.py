"""Who follows the advice of a command gets what was asked for."""

import pytest
from tests.first_contact.following import AGE, FRAME, POLICY, Case, K, changed, twice

import medveil
from medveil.app.anonymize import check_trace
from medveil.app.compare import Sweep, compare
from medveil.app.exposure import exposure
from medveil.app.generate import generate
from medveil.app.leakage import leakage
from medveil.app.missing_values import missing_values
from medveil.datasets import patients
from medveil.engine import named_engine
from medveil.release.truthful import derive

TREE = "nurse;care;*\ncook;house;*\n"
WEIGHTED = FRAME.assign(weight=["1", "2"] * 24)
PRIORS = FRAME.assign(prior=[1.0] * 48)
ODD = FRAME.assign(age=[20] + [30] * 47)


def released(act, **parts):
    """Something that is done with a release in a directory."""
    return twice(changed(out="release", **parts), lambda folder: act(folder / "release"))


def with_policy(act, name="policy.yaml", hierarchy=""):
    """Something that is done with a policy and its data in files."""

    def run(folder):
        FRAME.to_csv(folder / "people.csv", index=False)
        (folder / "jobs.csv").write_text(TREE)
        (folder / name).write_text(
            f"data: people.csv\nattributes: {{job: {{role: quasi{hierarchy}}}}}\n"
            "privacy: [{model: k-anonymity, k: 2}]\n"
        )
        return act(folder / name)

    return run


def taken_apart(folder):
    """A release of which a part is gone."""
    (folder / "release.csv").unlink()
    return folder


def made_by(name):
    return {**POLICY, "method": name}


CEILING = {"name": "h-ceiling", "h": 0.5}
JOBS = ", hierarchy: {type: file, path: jobs.csv}"
CASES = {
    "the address of an engine in this process": Case(
        "engine/__init__.py",
        "Leave --remote out, or use --engine spark.",
        lambda _: named_engine("duckdb", "sc://host:15002"),
        (lambda _: named_engine("duckdb"), lambda _: named_engine("spark", "sc://host:15002")),
    ),
    "the address of no engine": Case(
        "engine/__init__.py",
        "Write sc://host:15002, spark://host:7077 or local[2].",
        lambda _: named_engine("spark", "https://host"),
        tuple(
            lambda _, remote=remote: named_engine("spark", remote)
            for remote in ("sc://host:15002", "spark://host:7077", "local[2]")
        ),
    ),
    "a directory that is there": Case(
        "release/directory.py",
        "Name a new directory, or remove that one first.",
        twice(changed(out="release"), changed(out="release")),
        (changed(out="another"),),
    ),
    "a folder that is no release": Case(
        "app/measure.py",
        "Name the table itself, and a policy that says what its columns are.",
        medveil.measure,
        (lambda _: medveil.measure(FRAME, policy=POLICY, quick=True),),
    ),
    "columns named in two ways": Case(
        "app/measure.py",
        "Use one or the other.",
        lambda _: medveil.measure(FRAME, policy=POLICY, quasi=["age"]),
        (lambda _: medveil.measure(FRAME, quasi=["age"]), lambda _: medveil.measure(FRAME, policy=POLICY, quick=True)),
    ),
    "a column named twice": Case(
        "app/measure.py",
        "Name every column once.",
        lambda _: medveil.measure(FRAME, quasi=["age"], sensitive=["age"]),
        (lambda _: medveil.measure(FRAME, quasi=["age"], sensitive=["ill"]),),
    ),
    "a tree that nobody draws": Case(
        "app/anonymize.py",
        "Use iab, exhaustive or greedy.",
        lambda folder: check_trace(made_by("optimal"), folder / "tree.json"),
        tuple(
            lambda folder, name=name: check_trace(made_by(name), folder / "tree.json")
            for name in ("iab", "exhaustive", "greedy")
        ),
    ),
    "a tree that is there": Case(
        "app/anonymize.py",
        "Name a new file, or remove that one first.",
        twice(
            lambda folder: (folder / "tree.json").write_text(""),
            lambda folder: check_trace(made_by("iab"), folder / "tree.json"),
        ),
        (lambda folder: check_trace(made_by("iab"), folder / "other.json"),),
    ),
    "a tree in no folder": Case(
        "app/anonymize.py",
        "Create it first, or name another file.",
        lambda folder: check_trace(made_by("iab"), folder / "none" / "tree.json"),
        (
            twice(
                lambda folder: (folder / "none").mkdir(),
                lambda folder: check_trace(made_by("iab"), folder / "none" / "tree.json"),
            ),
            lambda folder: check_trace(made_by("iab"), folder / "tree.json"),
        ),
    ),
    "a sweep without values": Case(
        "app/compare.py",
        "Write it like k=2,5,10.",
        lambda _: Sweep.read("k"),
        (lambda _: Sweep.read("k=2,5,10"),),
    ),
    "a method that there is not": Case(
        "app/compare.py",
        "did_you_mean(name, [*known, ALL])",
        with_policy(lambda path: compare(path, out=path.parent / "out", chosen="optimall")),
        (with_policy(lambda path: compare(path, out=path.parent / "out", chosen="optimal")),),
    ),
    "a parameter that nobody has": Case(
        "app/compare.py",
        "hint",
        with_policy(lambda path: compare(path, out=path.parent / "out", chosen="mondrian", sweep="kk=2,3")),
        (with_policy(lambda path: compare(path, out=path.parent / "out", chosen="mondrian", sweep="k=2")),),
    ),
    "no column to look at": Case(
        "app/exposure.py",
        "Give the columns a role.",
        lambda _: exposure({"attributes": {"who": {"role": "subject"}}, "privacy": [K]}, data=FRAME),
        (lambda _: exposure({"attributes": {"who": {"role": "subject"}, "age": AGE}, "privacy": [K]}, data=FRAME),),
    ),
    "patients over a file": Case(
        "app/generate.py",
        "Name a new file, or remove that one first.",
        twice(*[lambda folder: generate(3, folder / "a.csv")] * 2),
        (twice(lambda folder: generate(3, folder / "a.csv"), lambda folder: generate(3, folder / "b.csv")),),
    ),
    "fewer than no patients": Case(
        "datasets/generate.py", "Ask for 0 or more.", lambda _: patients(-1, seed=1), (lambda _: patients(0, seed=1),)
    ),
    "values that no hierarchy lacks": Case(
        "app/missing_values.py",
        "give it a 'hierarchy:' first.",
        with_policy(lambda path: missing_values(path, "job")),
        (with_policy(lambda path: missing_values(path, "job"), hierarchy=JOBS),),
    ),
    "a table without hierarchies": Case(
        "app/missing_values.py",
        "Give the policy instead of the table, or name --file HIERARCHY.",
        with_policy(lambda path: missing_values(path.parent / "people.csv", "job")),
        (
            with_policy(lambda path: missing_values(path, "job"), hierarchy=JOBS),
            with_policy(lambda path: missing_values(path.parent / "people.csv", "job", file=path.parent / "jobs.csv")),
        ),
    ),
    "a column that the policy lacks": Case(
        "app/missing_values.py",
        "did_you_mean(column, known)",
        with_policy(lambda path: missing_values(path, "jobb"), hierarchy=JOBS),
        (with_policy(lambda path: missing_values(path, "job"), hierarchy=JOBS),),
    ),
    "a share above all": Case(
        "risk/leakage.py",
        "Give a number such as 0.5.",
        lambda _: leakage(FRAME, unique=2),
        (lambda _: leakage(FRAME, unique=0.5),),
    ),
    "weights that are no numbers": Case(
        "risk/leakage_entries.py",
        "Give every record a weight: how likely its person is the one looked for",
        lambda _: leakage(FRAME, prior="sex"),
        (lambda _: leakage(PRIORS, prior="prior"),),
    ),
    "weights of nobody": Case(
        "risk/leakage_entries.py",
        "Give at least one person a weight above 0.",
        lambda _: leakage(PRIORS.assign(prior=0.0), prior="prior"),
        (lambda _: leakage(PRIORS.assign(prior=[1.0] + [0.0] * 47), prior="prior"),),
    ),
    "several weights of one person": Case(
        "risk/leakage_entries.py",
        "Give every record of one person the same weight.",
        lambda _: leakage(PRIORS.assign(prior=[1.0, 2.0] * 24), prior="prior", subject="who"),
        (lambda _: leakage(PRIORS, prior="prior", subject="who"),),
    ),
    "a folder without a manifest": Case(
        "release/manifest.py", "Name the directory that --out made.", medveil.audit, (released(medveil.audit),)
    ),
    "a manifest that somebody changed": Case(
        "release/manifest.py",
        "Was it changed by hand?",
        released(lambda folder: medveil.audit(folder) if (folder / "manifest.json").write_text("{") else None),
        (released(medveil.audit),),
    ),
    "half a release": Case(
        "app/measure.py",
        "Give the whole directory that --out made.",
        released(lambda folder: medveil.measure(taken_apart(folder))),
        (released(lambda folder: medveil.measure(folder, quick=True)),),
    ),
    "the truth of a release without counterfeits": Case(
        "release/catalog.py",
        "Name a release that was made by the method h-ceiling.",
        released(derive),
        (released(derive, method=CEILING),),
    ),
    "a truthful table of an unknown kind": Case(
        "release/truthful.py",
        "Name a file that ends in .csv or .parquet.",
        released(lambda folder: derive(folder, folder.parent / "a.xlsx"), method=CEILING),
        tuple(
            released(lambda folder, name=name: derive(folder, folder.parent / name), method=CEILING)
            for name in ("a.csv", "a.parquet")
        ),
    ),
    "a truthful table over a file": Case(
        "release/truthful.py",
        "Name a new file, or remove that one first.",
        released(lambda folder: [derive(folder, folder.parent / "a.csv") for _ in range(2)], method=CEILING),
        (
            released(
                lambda folder: [derive(folder, folder.parent / name) for name in ("a.csv", "b.csv")], method=CEILING
            ),
        ),
    ),
    "a truthful table in no folder": Case(
        "release/truthful.py",
        "Check that the folder exists and is writable.",
        released(lambda folder: derive(folder, folder.parent / "none" / "a.csv"), method=CEILING),
        (released(lambda folder: derive(folder, folder.parent / "a.csv"), method=CEILING),),
    ),
    "weights that the catalog does not tell": Case(
        "release/truthful.py",
        "Leave '--weights' out, or make the release with 'protection: people'.",
        released(lambda folder: derive(folder, weights=True), method={**CEILING, "protection": "published"}, frame=ODD),
        (
            released(derive, method={**CEILING, "protection": "published"}, frame=ODD),
            released(lambda folder: derive(folder, weights=True), method=CEILING, frame=ODD),
        ),
    ),
    "weights beside a column of that name": Case(
        "release/truthful.py",
        "Rename it before the release is made.",
        released(
            lambda folder: derive(folder, weights=True),
            method=CEILING,
            frame=WEIGHTED,
            attributes={"weight": {"role": "quasi"}},
        ),
        (
            released(
                lambda folder: derive(folder, weights=True),
                method=CEILING,
                frame=WEIGHTED.rename(columns={"weight": "kilos"}),
                attributes={"kilos": {"role": "quasi"}},
            ),
        ),
    ),
}
"""Cases by what is wrong."""


@pytest.mark.parametrize("name", CASES)
def test_who_follows_the_advice_gets_on(name, tmp_path):
    CASES[name].check(tmp_path)
