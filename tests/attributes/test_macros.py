"""Template files of CRF++ and Wapiti, beside their definition: the same tokens are told apart, by weights of either."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from attributes.macro_reference import observations

from tagwright import CRF, FeatureSet
from tagwright.attributes.macros import is_macro_text
from tagwright.attributes.presets import PRESETS
from tagwright.errors import DataWarning, TemplateError

CHUNKING = """# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]

U05:%x[-1,0]/%x[0,0]
U10:%x[1,1]
U20:%x[-1,1]/%x[0,1]/%x[1,1]

# Bigram
B
"""


def indicators(rows: list[list[str]]) -> np.ndarray:
    names = {name: k for k, name in enumerate(sorted({name for row in rows for name in row}))}
    matrix = np.zeros((len(rows), len(names)))
    for t, row in enumerate(rows):
        for name in row:
            matrix[t, names[name]] += 1
    return matrix


def check_same_scores(text: str, seed: int, shortest: int = 1) -> None:
    """Every score that weights of their observations can give, weights of ours can give, and the other way round:
    both matrices of indicators have the same column space."""
    chance = random.Random(seed)
    words = ["a", "Ab", "AB", "b1", "12", "abc", "-", "xyz", "U.S."]
    sentences = [
        [(chance.choice(words), chance.choice("NV")) for _ in range(chance.randint(shortest, 6))] for _ in range(60)
    ]
    with pytest.warns(DataWarning) if "\nB" not in text else pytest.MonkeyPatch.context():
        features = FeatureSet.parse(text)
    assert FeatureSet.parse(features.to_text()) == features
    positions = [(sentence, t) for sentence in sentences for t in range(len(sentence))]
    theirs = indicators([observations(text, *position) for position in positions])
    ours = indicators([features.explain(*position) for position in positions])
    rank = np.linalg.matrix_rank
    assert rank(theirs) == rank(ours) == rank(np.hstack([theirs, ours]))


@pytest.mark.parametrize(
    "text",
    [
        CHUNKING,
        "U0:%x[0,0]\nU1:%x[-3,0]\nU2:%x[3,1]\nB",  # edges that no other line tells
        "U0:%x[-2,0]\nU1:%x[-1,1]\nB",
        "U0:%X[0,0]\nU1:%X[1,0]\nU2:%x[2,1]\nB",
        'U0:%t[0,0,"^\\u"]\nU1:%x[0,1]\nB',
        'U0:%t[-1,0,"\\u"]\nU1:%t[2,0,"^\\d*$"]\nB',
        'U0:%m[-2,0,"^.?"]\nB',
        'U0:%m[-2,0,"^.?"]\nU1:%x[0,1]\nU2:%M[3,0,"^.?"]\nB',
        'U0:%t[0,0,"\\u"]/%x[0,1]\nU1:%t[0,0,"\\d"]/%t[0,0,"-"]\nB',
        'U0:%t[0,0,"^\\p*$"]\nU1:%t[0,0,"^\\d*$"]\nU2:%t[0,0,"\\."]\nB',
        'U0:%x[0,0]\nU1:%m[0,0,"^.?.?"]\nU2:%M[0,0,".?.?.?$"]\nU3:%X[0,0]\nB',
        "U0:%x[0,0]\nU\nU3:%x[0,1]/%x[0,0]/%x[0,1]\nB",
        "U0:%x[0,0]\n",
    ],
)
def test_the_same_scores_are_possible(text: str) -> None:
    for seed in range(2):
        check_same_scores(text, seed)


@pytest.mark.parametrize("text", ["U0:%x[-2,0]/%x[0,1]\nB", "U0:%x[-3,1]/%x[-1,1]\nU1:%x[1,1]/%x[3,1]\nB"])
def test_the_same_scores_are_possible_where_tokens_are_skipped(text: str) -> None:
    for seed in range(2):
        check_same_scores(text, seed, shortest=3)


def test_entries_are_those_of_our_language_where_it_has_them() -> None:
    expected = ["word @ -2..0", "word:1 @ 1", "word[-1] & word[0]", "word:1[-1] & word:1[0] & word:1[1]"]
    assert FeatureSet.parse(CHUNKING, name="x") == FeatureSet.build("x", expected)


def test_spaces_comments_and_small_letters_of_wapiti() -> None:
    text = "  u:Wrd X=%x[ 0, 0]  # the word\nU:wrd X=%X[ 0,0]\n   # nothing\n*\n"
    assert FeatureSet.parse(text).to_text() == "word lower bias @ 0\n"


def test_it_is_told_by_its_content(tmp_path: Path) -> None:
    assert is_macro_text(CHUNKING)
    assert not any(is_macro_text(preset.words + preset.other_columns) for preset in PRESETS.values())
    assert not is_macro_text("word @ 0  # U00:%x[0,0] in CRF++\nlower @ 0")
    (tmp_path / "template").write_text(CHUNKING)
    X, y = [[("dogs", "N"), ("bark", "V")]] * 3, [["A", "B"]] * 3
    for features in (CHUNKING, tmp_path / "template", str(tmp_path / "template"), "U00:%x[0,0]/%x[0,1]\nB"):
        model = CRF(features, tolerance=0.1).fit(X, y)
        assert model.predict(X) == y
    model.save(tmp_path / "m.tw")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("B01:%x[0,0]", "`B01:%x.* weighs pairs of labels by what is seen.*write `U01:%x"),
        ("*1:%x[-1,0]", "write `U1:%x.*, which weighs single labels, and one line `B`"),
        ("U00:%x[0,0]", None),
        ("U01:%x[-1,0]", None),
        ("U00:%x[-1,0]", "has the name of line 1.*give each a name"),
        ("word @ 0", "begins with U, B or \\*.*found `word @ 0`"),
        ("U9:%y[0,0]", "found `%y\\[0,0\\]`"),
        ("U9:%x[0]", "found `%x\\[0\\]`"),
        ("U9:%x[0,2]", "needs column 2, but the data has 2"),
        ("U9:%x[-99,0]", "an offset is a number from -32 to 32"),
        ("U9:%x[@1,0]", "counts from the end of the sentence"),
        ('U9:%t[0,0,"^\\u*$"]', "no function here has the values of this pattern"),
        ('U9:%m[0,0,"a*"]', "beginnings such as"),
        ("U9:%t[0,0]", "takes a pattern"),
        ('U9:%x[0,0,"a"]', "takes no pattern"),
        ("U9:" + "".join(f'%t[{k},0,"-"]' for k in range(20)), "joins 20 tests; at most 6"),
    ],
)
def test_what_has_no_equal_is_refused_with_its_line(line: str, wanted: str | None) -> None:
    text = f"U00:%x[0,0]\n\n{line}\nB"
    if wanted is None:
        FeatureSet.parse(text, n_columns=2)
        return
    with pytest.raises(TemplateError, match=f"^my.template:3: .*{wanted}"):
        FeatureSet.parse(text, location="my.template", n_columns=2)
