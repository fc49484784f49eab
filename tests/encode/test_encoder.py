"""The encoder against the definition: FeatureSet.explain names every attribute of a token, one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from named import named_attributes
from toy import toy_columns, toy_dicts, toy_words

from tagwright.attributes import FUNCTIONS, FeatureSet, resolve
from tagwright.encode import forms
from tagwright.encode.conjunctions import join_codes
from tagwright.encode.encoder import Encoder
from tagwright.encode.flat_text import FlatText
from tagwright.encode.key_table import KeyTable
from tagwright.errors import DataError, TemplateError

RICH = """
word lower suffix(1..2) shape has_digit @ -1..1
word @ -2, 2
bias @ 0
word[-1] & word[0] @ 0..1
suffix(1)[-1] & suffix(1)[0] & suffix(1)[1]
has_digit[0] & lower[1]
"""


@pytest.mark.parametrize("features", [RICH, "pos", "ner", "s3"])
def test_training_text_gets_exactly_what_explain_says(features: str) -> None:
    X, _ = toy_words(40)
    encoder = Encoder(resolve(features, 1))
    encoder.learn(FlatText.build(X))
    expected = [sorted(encoder.features.explain(s, t)) for s in X for t in range(len(s))]
    assert named_attributes(encoder, X) == expected
    assert len(set(encoder.attribute_names())) == encoder.n_attributes


def test_new_text_gets_the_known_part_of_what_explain_says() -> None:
    X, _ = toy_words(40)
    fresh, _ = toy_words(40, seed=9)
    encoder = Encoder(resolve(RICH, 1))
    encoder.learn(FlatText.build(X))
    known = set(encoder.attribute_names())
    expected = [sorted(known & set(encoder.features.explain(s, t))) for s in fresh for t in range(len(s))]
    for _ in range(2):  # the second time its unknown words are visitors already
        assert named_attributes(encoder, fresh) == expected
    assert any(len(e) < len(encoder.features.explain(s, 0)) for s, e in zip(fresh, expected, strict=False))


EVERYTHING = "\n".join(
    f"{name}{'(1..3)' * function.n_arguments} @ -1..1" for name, function in FUNCTIONS.items() if name != "cluster"
)


def test_every_function_of_unknown_words() -> None:
    """Also of capitals, accents, digits of other scripts, short words, line breaks and the strings of the edges."""
    X = [["Été", "RUN", "Running", "x-ray", "3.14", "U.S.", "İo", "...", "東京", "<s>x", "a\nb"]]
    fresh = [["été", "running", "RUNNING", "É", "٣.٢", "X-Ray", "io", "!", "<s>", "</s>", "", "a\nB", "\ud800ng"]]
    encoder = Encoder(resolve(EVERYTHING, 1))
    encoder.learn(FlatText.build(X))
    known = set(encoder.attribute_names())
    expected = [sorted(known & set(encoder.features.explain(fresh[0], t))) for t in range(len(fresh[0]))]
    assert named_attributes(encoder, fresh) == expected


def test_columns() -> None:
    X, _ = toy_columns(30)
    features = resolve("word @ -1..1\nword:1 @ -1..1\nword:1[-1] & word:0[0]", 2)
    encoder = Encoder(features)
    encoder.learn(FlatText.build(X))
    assert named_attributes(encoder, X) == [sorted(features.explain(s, t)) for s in X for t in range(len(s))]


def test_visitors_are_sent_away_and_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MOST_VISITORS", 3)
    X, _ = toy_words(20)
    encoder = Encoder(resolve(RICH, 1))
    encoder.learn(FlatText.build(X))
    known = set(encoder.attribute_names())
    column = encoder.columns[0]
    for seed in range(5, 9):
        fresh, _ = toy_words(20, seed=seed)
        expected = [sorted(known & set(encoder.features.explain(s, t))) for s in fresh for t in range(len(s))]
        assert named_attributes(encoder, fresh) == expected
    assert column.season > 0
    assert len(column.values) == column.n_known - 2


def test_given_attributes() -> None:
    X, _ = toy_dicts(10)
    encoder = Encoder(None)
    data = encoder.learn(FlatText.build(X))
    names = encoder.attribute_names()
    first = {names[a]: v for a, v in zip(data.attributes[: data.pointers[1]], data.values, strict=False)}
    item = X[0][0]
    expected = {f"word:{item['word']}": 1.0, f"end:{item['end']}": 1.0, "size": item["size"], "first": 1.0}
    assert {n: v for n, v in first.items() if not n.startswith("has")} == expected
    assert first["has:x"] == float(item["has"]["x"])
    unknown = encoder.encode(FlatText.build([[{"nothing": 1.0, "size": 2.5}]]))
    assert (unknown.attributes.tolist(), unknown.values.tolist()) == ([names.index("size")], [2.5])


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"a": float("nan")}, r"X\[0\]\[1\]: attribute 'a' is nan"),
        ({"a": float("inf")}, "finite"),
        ({"a": None}, "NoneType"),
        ({"a": b"x"}, "decode"),
        ({1: "x"}, "names are strings"),
        ({"a": [1]}, "strings"),
    ],
)
def test_bad_given_attributes(item: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Encoder(None).learn(FlatText.build([[{"ok": 1}, item]]))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("abc", "list of sentences"),
        (["abc"], r"X\[0\].*split"),
        ([["a"], []], r"X\[1\].*empty"),
        ([["a", ("b", "c")]], r"X\[0\]\[1\]"),
        ([["a"], ["b", 3]], r"X\[1\]\[1\].*int"),
        ([[("a", "b")], [("a", "b", "c")]], r"X\[1\]\[0\]"),
        ([["a"], [{"b": 1}]], r"X\[1\]\[0\].*dict"),
    ],
)
def test_bad_sentences(X: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        FlatText.build(X)


def test_take_reorders_whole_sentences() -> None:
    X, _ = toy_words(12)
    encoder = Encoder(FeatureSet.build("t", ["word @ 0", "word[-1] & word[0]"]))
    data = encoder.learn(FlatText.build(X))
    order = np.array([3, 0, 11, 5])
    taken = data.take(order)
    direct = encoder.encode(FlatText.build([X[i] for i in order]))
    for name in ("offsets", "forms", "pointers", "attributes"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(direct, name))


def test_key_table_finds_every_key_and_no_other() -> None:
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(0, 2**60, 5000))
    table = KeyTable(keys)
    np.testing.assert_array_equal(table.find(keys), np.arange(len(keys)))
    others = np.setdiff1d(rng.integers(0, 2**60, 5000), keys)
    assert (table.find(others) == -1).all()
    assert (table.find(np.array([-1])) == -1).all()


def test_too_large_conjunction_is_refused() -> None:
    with pytest.raises(TemplateError, match="too large"):
        join_codes([np.zeros(1, np.int32)] * 3, [2**21, 2**21, 2**21])


def test_text_that_can_only_be_looked_through() -> None:
    text = FlatText.build({"first": ["a", "b"], "second": ("c",)}.values())  # type: ignore[arg-type]
    assert (text.items, text.offsets.tolist(), text.width) == (["a", "b", "c"], [0, 2, 3], 1)


class Table:
    """As long as it has rows; it gives its columns."""

    def __init__(self, rows: int, *columns: object) -> None:
        self.rows, self.columns = rows, columns

    def __len__(self) -> int:
        return self.rows

    def __iter__(self) -> Iterator[object]:
        return iter(self.columns)


@pytest.mark.parametrize("rows", [1, 9])
def test_a_sentence_that_is_not_as_long_as_it_says_is_refused(rows: int) -> None:
    encoder = Encoder(resolve("word @ 0", 1))
    encoder.learn(FlatText.build([["a", "b"]]))
    with pytest.raises(DataError, match=f"{rows} items, and have 3; give lists"):
        encoder.encode(FlatText.build([Table(rows, "a", "b", "a")], width=1))  # type: ignore[list-item]
    with pytest.raises(DataError, match=f"{rows} items, and have 2; give lists"):
        FlatText.build([Table(rows, ("a", "b"), ("c", "d"))])  # type: ignore[list-item]
