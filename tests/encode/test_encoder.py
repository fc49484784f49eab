"""The encoder against the definition: FeatureSet.explain names every attribute of a token, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from named import named_attributes
from toy import toy_columns, toy_dicts, toy_words

from tagwright.attributes import FUNCTIONS, FeatureSet, resolve
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.errors import DataError

pytestmark = pytest.mark.bounds

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
    encoder, _ = Encoder.learn(resolve(features, 1), [Text.build(X)])
    expected = [sorted(encoder.features.explain(s, t)) for s in X for t in range(len(s))]
    assert named_attributes(encoder, X) == expected
    assert len(set(encoder.attribute_names())) == encoder.n_attributes


def test_new_text_gets_the_known_part_of_what_explain_says() -> None:
    X, _ = toy_words(40)
    fresh, _ = toy_words(40, seed=9)
    encoder, _ = Encoder.learn(resolve(RICH, 1), [Text.build(X)])
    known = set(encoder.attribute_names())
    expected = [sorted(known & set(encoder.features.explain(s, t))) for s in fresh for t in range(len(s))]
    assert named_attributes(encoder, fresh) == expected
    assert any(len(e) < len(encoder.features.explain(s, 0)) for s, e in zip(fresh, expected, strict=False))


EVERYTHING = "\n".join(
    f"{name}{'(1..3)' * function.n_arguments} @ -1..1" for name, function in FUNCTIONS.items() if name != "cluster"
)


def test_every_function_of_unknown_words() -> None:
    """Also of capitals, accents, digits of other scripts, short words, line breaks and the strings of the edges."""
    X = [["Été", "RUN", "Running", "x-ray", "3.14", "U.S.", "İo", "...", "東京", "<s>x", "a\nb"]]
    fresh = [["été", "running", "RUNNING", "É", "٣.٢", "X-Ray", "io", "!", "<s>", "</s>", "", "a\nB", "\ud800ng"]]
    encoder, _ = Encoder.learn(resolve(EVERYTHING, 1), [Text.build(X)])
    known = set(encoder.attribute_names())
    expected = [sorted(known & set(encoder.features.explain(fresh[0], t))) for t in range(len(fresh[0]))]
    assert named_attributes(encoder, fresh) == expected


def test_columns() -> None:
    X, _ = toy_columns(30)
    features = resolve("word @ -1..1\nword:1 @ -1..1\nword:1[-1] & word:0[0]", 2)
    encoder, _ = Encoder.learn(features, [Text.build(X)])
    assert named_attributes(encoder, X) == [sorted(features.explain(s, t)) for s in X for t in range(len(s))]


def test_attribute_dicts() -> None:
    X, _ = toy_dicts(10)
    encoder, (data,) = Encoder.learn(None, [Text.build(X)])
    names = encoder.attribute_names()
    first = {names[a]: v for a, v in zip(data.attributes[: data.pointers[1]], data.values, strict=False)}
    item = X[0][0]
    expected = {f"word:{item['word']}": 1.0, f"end:{item['end']}": 1.0, "size": item["size"], "first": 1.0}
    assert {n: v for n, v in first.items() if not n.startswith("has")} == expected
    assert first["has:x"] == float(item["has"]["x"])
    unknown = encoder.encode(Text.build([[{"nothing": 1.0, "size": 2.5}]]))
    assert (unknown.attributes.tolist(), unknown.values.tolist()) == ([names.index("size")], [2.5])


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"a": float("nan")}, r"X\[0\]\[1\]: attribute 'a' is nan"),
        ({"a": float("inf")}, "finite"),
        ({"a": None}, "is None, .*leave the attribute out"),
        ({"a": b"\xff"}, "decode"),
        ({1: "x"}, "names are strings"),
        ({"a": [1]}, "strings"),
    ],
)
def test_bad_attribute_dicts(item: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Encoder.learn(None, [Text.build([[{"ok": 1}, item]])])


def test_take_reorders_whole_sentences() -> None:
    X, _ = toy_words(12)
    features = FeatureSet.build("t", ["word @ 0", "word[-1] & word[0]"])
    encoder, (data,) = Encoder.learn(features, [Text.build(X)])
    order = np.array([3, 0, 11, 5])
    taken = data.take(order)
    direct = encoder.encode(Text.build([X[i] for i in order]))
    for name in ("offsets", "forms", "pointers", "attributes"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(direct, name))
