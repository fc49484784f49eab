"""Feature sets: the language both ways, `explain` against expectations written by hand, `resolve`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagwright.attributes.language import Cell, Term, attribute_name, join_values
from tagwright.attributes.templates import EDGES, FeatureSet, resolve
from tagwright.errors import DataError
from tagwright.text.spelling import FUNCTIONS


def cell(function: str, offset: int = 0, argument: int | None = None, column: int = 0) -> Cell:
    return Cell(Term(function, argument, column), offset)


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    name = draw(st.sampled_from(sorted(FUNCTIONS)))
    argument = draw(st.integers(1, 6)) if FUNCTIONS[name].n_arguments else None
    return Cell(Term(name, argument, draw(st.integers(0, 2))), draw(st.integers(-3, 3)))


conjunctions = st.lists(cells(), min_size=2, max_size=4, unique=True).map(tuple)
feature_sets = st.builds(
    FeatureSet,
    st.just("custom"),
    st.lists(cells(), max_size=30).map(tuple),
    st.lists(conjunctions, max_size=6).map(tuple),
)


@given(feature_sets)
def test_text_round_trip(features: FeatureSet) -> None:
    assert FeatureSet.parse(features.to_text()) == features


@given(st.sets(st.integers(1, 9), min_size=1), st.sets(st.integers(-5, 5), min_size=1))
def test_text_round_trip_of_ranges(arguments: set[int], offsets: set[int]) -> None:
    singles = tuple(cell("suffix", offset, argument, 1) for offset in sorted(offsets) for argument in sorted(arguments))
    features = FeatureSet("custom", singles)
    assert features.to_text().count("\n") == 1
    assert FeatureSet.parse(features.to_text()) == features


def test_parse_expands() -> None:
    text = """
    # a comment
    word suffix(1..2) @ -1, 1   # another
    word:1 @ -1..+1
    suffix( 2 .. 3 ):1 @ 0
    """
    found = FeatureSet.parse(text).singles
    assert found == (
        *(cell("word", -1), cell("suffix", -1, 1), cell("suffix", -1, 2)),
        *(cell("word", 1), cell("suffix", 1, 1), cell("suffix", 1, 2)),
        *(cell("word", offset, column=1) for offset in (-1, 0, 1)),
        *(cell("suffix", 0, 2, 1), cell("suffix", 0, 3, 1)),
    )


def test_parse_conjunctions() -> None:
    features = FeatureSet.parse("word[-1] & word[0] @ 0..1\nshape[ 0 ]&suffix(1..2):1[+1]&bias[-2]")
    assert features.singles == ()
    assert features.conjunctions == (
        (cell("word", -1), cell("word", 0)),
        (cell("word", 0), cell("word", 1)),
        (cell("shape"), cell("suffix", 1, 1, 1), cell("bias", -2)),
        (cell("shape"), cell("suffix", 1, 2, 1), cell("bias", -2)),
    )
    assert (features.radius, features.columns) == (2, (0, 1))


def test_text_is_compact() -> None:
    text = (
        "word suffix(1..3):1 prefix(2) @ -2..0, 2\nlower @ 1, 2\nsuffix(1) suffix(2):1 @ 3\nword[-1] & suffix(2)[0]\n"
    )
    assert FeatureSet.parse(text).to_text() == text


def test_repeats_are_dropped() -> None:
    features = FeatureSet.parse("word @ 0, 0\nword shape @ 0\nword[-1] & word[0]\nword[0] & word[-1]")
    assert features.singles == (cell("word"), cell("shape"))
    assert features.conjunctions == ((cell("word", -1), cell("word", 0)),)


def test_empty_set() -> None:
    features = FeatureSet("none")
    assert (features.radius, features.columns, features.to_text()) == (0, (), "")
    assert features.explain(["a"], 0) == []


def test_term_names() -> None:
    assert [Term("word").name, Term("word", column=1).name] == ["word", "word:1"]
    assert [Term("suffix", 3).name, Term("suffix", 3, 1).name] == ["suffix3", "suffix3:1"]


def test_names_of_terms_are_distinct() -> None:
    terms = [
        Term(name, argument, column)
        for name, function in FUNCTIONS.items()
        for argument in (range(1, 33) if function.n_arguments else [None])
        for column in range(12)
    ]
    assert len({term.name for term in terms}) == len(terms)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_edge_values(name: str) -> None:
    term = Term(name, 3 if FUNCTIONS[name].n_arguments else None)
    expected = {"word": EDGES, "lower": EDGES, "edge": EDGES, "bias": ("", "")}.get(name, (None, None))
    assert (term.edge_value(0), term.edge_value(1)) == expected


def test_explain_words() -> None:
    lines = [
        "word lower suffix(2..3) capitalised bias @ 0",
        "word shape bias edge @ -1, 2",
        "word[-1] & word[0] @ 0..1",
        "capitalised[0] & word[1]",
        "capitalised[0] & has_dot[0]",
        "shape[-1] & word[0]",
    ]
    features = FeatureSet.build("mine", lines)
    assert features.name == "mine"
    assert features.explain(["AT&T", "of"], 0) == [
        *("word[0]=AT&T", "lower[0]=at&t", "suffix2[0]=&T", "suffix3[0]=T&T", "capitalised[0]", "bias[0]"),
        *("word[-1]=<s>", "bias[-1]", "edge[-1]=<s>", "word[2]=</s>", "bias[2]", "edge[2]=</s>"),
        *("word[-1]&word[0]=<s>&AT\\&T", "word[0]&word[1]=AT\\&T&of", "capitalised[0]&word[1]=of"),
    ]
    assert features.explain(["Mr.", "X"], 0)[-1] == "capitalised[0]&has_dot[0]"
    assert features.explain(["Mr.", "X"], 1)[-1] == "shape[-1]&word[0]=Xx.&X"


def test_explain_columns() -> None:
    features = FeatureSet.parse("word:1 suffix(1):1 @ -1..1\nword:1[-1] & word[0]")
    items = [("Rain", "NN"), ("falls", "VBZ")]
    assert features.explain(items, 1) == [
        *("word:1[-1]=NN", "suffix1:1[-1]=N", "word:1[0]=VBZ", "suffix1:1[0]=Z", "word:1[1]=</s>"),
        "word:1[-1]&word[0]=NN&falls",
    ]
    with pytest.raises(
        DataError, match=r"item 0: the item has 1 column\(s\), the template `word:1\[-1\]` needs column 1"
    ):
        features.explain(["Rain", "falls"], 1)
    with pytest.raises(DataError, match="position: expected 0 to 1, found -1"):
        features.explain(items, -1)


@example([("x\\", "y&z"), ("x&y\\", "z")])
@example([("x", "y&z"), ("x&y", "z")])
@given(
    st.lists(st.tuples(st.text("a&\\", max_size=3), st.text("a&\\", max_size=3)), min_size=2, max_size=2, unique=True)
)
def test_joined_values_are_distinct(pairs: list[tuple[str, str]]) -> None:
    both = [cell("word", -1), cell("word")]
    one, other = (attribute_name(both, join_values(both, pair)) for pair in pairs)
    assert one != other


def test_resolve(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("\ufeffword @ 0\n", encoding="utf-8")
    expected = FeatureSet("custom", (cell("word"),))
    for features in (path, str(path), "word @ 0", "word @ 0\n", ["word @ 0"], expected, "word @ 0" + " " * 5000):
        assert resolve(features, 1) == expected
    assert resolve("s1", 1) == FeatureSet("s1", (cell("word"),))
