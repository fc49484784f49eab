"""Without Numba everything still runs, slowly, with the same results."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tagwright._jit import JIT

SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from toy import toy_words
from tagwright._jit import JIT
from tagwright.learners import LEARNERS
X, y = toy_words(12)
fresh = toy_words(4, seed=3)[0]
found = {"jit": JIT}
for name, learner in LEARNERS.items():
    quick, online = {"tolerance": 0.1}, {"epochs": 2}
    short = {"crf": quick, "memm": quick}.get(name, online if "perceptron" in name or name == "guided" else {})
    short = {"adaboost": {"rounds": 5}, "hmsvm": {"tol": 1e-6}}.get(name, short)
    features = {"hmm": None, "crf": "pos"}.get(name, "word suffix(1) @ -1..0\\nword[-1] & word[0]")
    model = learner(features, random_state=0, **short)
    model.fit(X, y)
    found[name] = [model.predict(fresh), model.predict_nbest(fresh, k=3) if model.ranked else []]
for update in ("passive_aggressive", "arow"):
    model = LEARNERS["perceptron"]("s1", update=update, epochs=2, random_state=0).fit(X, y)
    found[update] = [model.predict(fresh), model.predict_nbest(fresh, k=3)]
for mode in ({"aggressive": False, "margin": 1.0}, {"guided": False}, {"direction": "right_to_left", "beam": 1}):
    model = LEARNERS["guided"]("e", epochs=2, random_state=0, **mode).fit(X, y)
    found[str(mode)] = [model.predict(fresh), []]
found["dictionary"] = [LEARNERS["crf"]("pos", tag_dictionary=2, tolerance=0.1).fit(X, y).predict(fresh), []]
second = LEARNERS["crf"]("word suffix(1) @ -1..0", order=2, tag_dictionary=2, tolerance=0.1).fit(X, y)
found["second order"] = [second.predict(fresh), second.predict_nbest(fresh, k=3)]
print(json.dumps(found))
"""


def run(no_jit: str) -> dict:
    environment = {**os.environ, "TAGWRIGHT_NO_JIT": no_jit}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, os.path.dirname(__file__)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not JIT, reason="there is no Numba to compare with")
def test_plain_python_gives_the_same_results() -> None:
    compiled, plain = run("0"), run("1")
    assert (compiled.pop("jit"), plain.pop("jit")) == (True, False)
    assert compiled.keys() == plain.keys() >= {"crf", "perceptron"}
    for name, (labels, options) in compiled.items():
        assert labels == plain[name][0]
        for mine, yours in zip(options, plain[name][1], strict=True):
            for (a, score), (b, other) in zip(mine, yours, strict=True):
                assert a == b
                assert score == pytest.approx(other, abs=1e-4)
