"""The embedded sample as Python and the command line see it. Its annotation is checked in test_sample.py."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import tagwright
from tagwright import datasets
from tagwright.errors import ParameterError
from tagwright.io import detect_scheme


def rows() -> list[list[list[str]]]:
    """The sentences of the file, read by hand."""
    blocks = datasets.sample_path().read_text(encoding="utf-8").split("\n", 1)[1].strip().split("\n\n")
    return [[line.split("\t") for line in block.splitlines()] for block in blocks]


def test_words_and_tags() -> None:
    X, y = datasets.sample()
    assert [[row[0] for row in sentence] for sentence in rows()] == X
    assert y == [[row[1] for row in sentence] for sentence in rows()]


@pytest.mark.parametrize(("column", "number"), [("chunk", 2), ("ENTITY", 3)])
def test_columns_left_of_the_label(column: str, number: int) -> None:
    X, y = datasets.sample(column)
    assert [[tuple(row[:number]) for row in sentence] for sentence in rows()] == X
    assert y == [[row[number] for row in sentence] for sentence in rows()]
    assert detect_scheme(y) == "iob2"


def test_chosen_inputs() -> None:
    X, _ = datasets.sample("entity", inputs=["word"])
    assert datasets.sample()[0] == X
    X, _ = datasets.sample("entity", inputs=["word", "pos"])
    assert X[0][0] == tuple(rows()[0][0][:2])


def test_every_call_gives_fresh_lists() -> None:
    X, y = datasets.sample()
    X[0].clear()
    y.clear()
    assert datasets.sample()[0][0]
    assert datasets.sample()[1]


def test_refuses_other_columns() -> None:
    with pytest.raises(ParameterError, match="label columns pos, chunk, entity, found column='lemma'"):
        datasets.sample("lemma")


def test_size() -> None:
    X, _ = datasets.sample()
    assert len(X) >= 320
    assert sum(map(len, X)) >= 5000


def test_the_sample_is_package_data() -> None:
    root = Path(tagwright.__file__).parent
    declared = tomllib.loads((root.parents[1] / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    packed = [file for pattern in declared["tagwright"] for file in root.glob(pattern)]
    assert datasets.sample_path() in packed
    assert root / "py.typed" in packed
