"""Wapiti's models: read right, scored as its definition says, and refused where that cannot be."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from attributes.macro_reference import observations
from wapiti.models import LABELS, random_model, random_sentences, write_model

from tagwright import CRF, load
from tagwright.encode.text import Text
from tagwright.errors import ModelFileError
from tagwright.wapiti import parse_model, to_crf

PATTERNS = r"""u0:%x[-2,0]
u1:%x[-1,0]
u2:%X[1,1]
u3:%x[-1,0]/%x[0,0]
u4:%x[-1,1]%x[0,1]//%x[1,1]
u5:%t[0,0,"^\u"]
u6:%t[-1,0,"\d"]
u7:%t[2,0,"\u"]
u8:%m[0,0,"^.?.?"]
u9:%M[-1,0,".?.?.?$"]
u10:%x[3,1]
u11:%x[0,0]
u11:%x[0,0]
u12:same
u:%x[-1,0]
u:%x[1,0]
*
b"""


def emission(model: CRF, sentence: list) -> np.ndarray:
    batch = model.encoder_.encode(Text.build([sentence], width=model.encoder_.width))
    out = np.empty((len(sentence), model.decoder_.scores.width))
    model.decoder_.scores.rows(batch).emission(0, 1, out)
    return out[:, : len(LABELS)]


@pytest.mark.parametrize("patterns", [PATTERNS, *(f"{line}\nb" for line in PATTERNS.splitlines()[:-1])])
def test_scores_are_those_of_the_definition(patterns: str, tmp_path: Path) -> None:
    data, single, pairs = random_model(patterns, seed=1)
    to_crf(parse_model(data)).save(tmp_path / "m.tw")
    model = load(tmp_path / "m.tw")
    assert model.labels_ == LABELS
    transition, start, stop = model.decoder_.chain_scores
    np.testing.assert_allclose(transition, pairs, atol=1e-12)
    assert not start.any()
    assert not stop.any()
    for sentence in [*random_sentences(1), *random_sentences(7)]:  # with observations that the model does not know
        items = sentence if model.encoder_.width == 2 else [word for word, _ in sentence]
        expected = [
            sum(single.get(o, np.zeros(3)) for o in observations(patterns, sentence, t)) for t in range(len(sentence))
        ]
        np.testing.assert_allclose(emission(model, items), expected, atol=1e-9)


def test_a_model_without_patterns_has_ready_made_attributes() -> None:
    data = write_model([], ["uw=the", "uw=man"], {0: 1.5, 4: 2.0})
    model = to_crf(parse_model(data))
    assert model.predict([[["uw=the", "u?"], {"uw=man": 1.0}]]) == [["N", "V"]]
    prefixed = to_crf(parse_model(data.replace(b"/1/0\n", b"/1/1\n", 1)))
    assert prefixed.predict([[["w=man"], ["w=the"]]]) == [["V", "N"]]


@pytest.mark.parametrize(
    ("patterns", "names", "weights", "reason"),
    [
        (["b:%x[0,0]"], ["b:a"], {3: 1.0}, "'b:a' has weights for pairs of labels"),
        (["*:%x[0,0]"], ["*:a"], {3: 1.0}, "'\\*:a' has weights for pairs of labels"),
        ([], ["b"], {3: 1.0}, "'b' has weights for pairs of labels"),
        (['u:%t[0,0,"^\\u*$"]'], ["u:true"], {0: 1.0}, "no function here has the values of this pattern"),
        (["u:%x[-2,0]/%x[0,0]"], ["u:a/b"], {0: 1.0}, "neighbouring tokens"),
        (["u:%X[0,0]"], ["u:É"], {0: 1.0}, "leaves capitals beyond A to Z"),
        (['u:%m[0,0,"^.?"]'], ["u:é"], {0: 1.0}, "counts bytes"),
        (["u:%x[-1,0]"], ["u:<s>"], {0: 1.0}, "stands for the edges"),
    ],
)
def test_what_cannot_be_expressed_is_refused(
    patterns: list[str], names: list[str], weights: dict[int, float], reason: str
) -> None:
    with pytest.raises(ModelFileError, match=f"^my.wapiti: this Wapiti model cannot be expressed: .*{reason}"):
        to_crf(parse_model(write_model(patterns, names, weights)), "my.wapiti")


def test_stars_without_weights_of_pairs_can_be_expressed() -> None:
    model = to_crf(parse_model(write_model(["*:%x[0,0]"], ["*:a"], {0: 1.0})))
    assert model.predict([["a"]]) == [["N"]]


def test_an_memm_is_refused() -> None:
    with pytest.raises(ModelFileError, match="it is an MEMM"):
        to_crf(parse_model(write_model(["u:%x[0,0]"], ["u:a"], {0: 1.0}, kind=1)))


def test_an_older_file_without_a_kind() -> None:
    data = write_model(["u:%x[0,0]"], ["u:a"], {2: 1.0}).replace(b"#mdl#2#", b"#mdl#").replace(b"/1/0\n", b"/1\n")
    assert to_crf(parse_model(data)).predict([["a"]]) == [["ß"]]


def test_mutated_files_are_errors_or_models() -> None:
    data, _, _ = random_model(PATTERNS, seed=2)
    chance, refused = random.Random(0), 0
    for number in range(600):
        changed = bytearray(data)
        for _ in range(chance.choice([1, 1, 3])):
            at = chance.choice([chance.randrange(len(changed)), chance.randrange(500)])
            changed[at : at + chance.choice([0, 1, 1, 9])] = chance.choice(
                [b"9", b"", b":", b"\xff", b"%", b"\n", b"99999"]
            )
        try:
            model = parse_model(bytes(changed))
            if number % 20 == 0:
                to_crf(model)
        except ModelFileError:
            refused += 1
    assert 200 < refused < 600
