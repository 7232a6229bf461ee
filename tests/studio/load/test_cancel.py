"""Every method stopped at several moments: within two seconds, and nothing is left of it."""

import os
import sys
import time

import pyarrow.csv
import pytest

from medveil.datasets import patients
from medveil.methods import methods

pytestmark = pytest.mark.skipif(not os.environ.get("MEDVEIL_LOAD"), reason="make load measures it")

POLICY = """\
data: data/table.csv
attributes:
  age: {{role: quasi, type: number, hierarchy: {{type: intervals, domain: [0, 119], widths: [10, 40]}}}}
  sex: {{role: quasi, domain: [F, M]}}
  length_of_stay:
    {{role: quasi, type: number, hierarchy: {{type: intervals, domain: [0, 400], widths: [10, 40, 160]}}}}
  surgery: {{role: sensitive, domain: ["yes", "no"]}}
privacy: [{model}]
method: {{name: {method}{more}}}
"""
PRIVATE = {"ipa": "", "dp-histogram": "", "dp-sampling": ", delta: 1.0e-6"}
MORE = {"iack": ", target: surgery"}
MOMENTS = (0.2, 1.0, 2.5)


@pytest.fixture(scope="module")
def project(studio):
    pyarrow.csv.write_csv(patients(100_000, seed=3), studio.data / "many.csv")
    made = studio.uploaded((studio.data / "many.csv").read_bytes())
    studio.looked(made)
    return made


def test_any_method_is_stopped_within_two_seconds_at_any_moment(studio, project, capsys):
    took = {}
    for method in methods():
        private = method in PRIVATE
        model = f"{{model: differential-privacy, epsilon: 1.0{PRIVATE.get(method, '')}}}"
        model = model if private else "{model: k-anonymity, k: 5}"
        text = POLICY.format(model=model, method=method, more=MORE.get(method, ""))
        answer = studio.client.post(f"/projects/{project}/policy", data={"text": text})
        assert answer.status_code == 200, f"{method}: {answer.text}"
        for moment in MOMENTS:
            path = studio.run(project, spend="on")
            studio.until(lambda path=path: studio.json(path)["state"] != "queued", "the start")
            time.sleep(moment)
            started = time.monotonic()
            studio.client.post(f"{path}/cancel")
            ended = studio.ended(path)
            seconds = time.monotonic() - started
            assert ended["state"] in {"cancelled", "done"}, f"{method}: {ended['error']}"
            folder = studio.folder / "projects" / project / "runs" / path.rsplit("/", 1)[1]
            if ended["state"] == "cancelled":
                took[method, moment] = seconds
                assert not folder.exists(), f"{method} left something behind"
    with capsys.disabled():
        worst = max(took, key=took.get)
        sys.stdout.write(
            f"\n{len(took)} runs of {len({method for method, _ in took})} methods were stopped, "
            f"the slowest ({worst[0]} after {worst[1]} s) in {took[worst]:.2f} s\n"
        )
    assert {method for method, _ in took} == set(methods())
    assert max(took.values()) < 2
