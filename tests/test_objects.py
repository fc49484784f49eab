"""Kernels that ask Python's own objects, against Python."""

from __future__ import annotations

import sys

import numpy as np

from tagwright._jit import python_kernel
from tagwright._objects import NOTHING, copy_points, fetch_object, item, length, replace, replace_list, size


@python_kernel
def size_of(of: int) -> int:
    return size(of)


@python_kernel
def item_of(of: int, k: int) -> int:
    fetch_object(of)
    return item(of, k)


@python_kernel
def length_of(of: int) -> int:
    return length(of)


@python_kernel
def copy_of(of: int, points: np.ndarray, place: int) -> None:
    copy_points(of, points, place)


@python_kernel
def replace_all(of: int, by: int) -> None:
    for k in range(size(of)):
        replace(of, k, by)


@python_kernel
def replace_by_lists(of: int, n: int, by: int) -> None:
    for k in range(size(of)):
        new = replace_list(of, k, n)
        for j in range(n):
            replace(new, j, by)


class Words(list):
    """As users have them."""


class Word(str):
    __slots__ = ()


def test_items_of_lists() -> None:
    for found in ([], ["a"], [None, "b", 3.5, ["c"]], Words(["a", "b"])):
        assert size_of(id(found)) == len(found)
        assert [item_of(id(found), k) for k in range(len(found))] == [id(value) for value in found]
        assert item_of(id(found), len(found)) == item_of(id(found), -1) == NOTHING


def test_what_is_no_list_or_no_string_is_nothing() -> None:
    for found in (("a",), "a", {"a"}, None, 3, np.array(["a"])):
        assert size_of(id(found)) == item_of(id(found), 0) == NOTHING
    for found in (["a"], b"a", None, 3, object()):
        assert length_of(id(found)) == NOTHING
    assert length_of(id("")) == 0  # Python would stumble here over an exception that was left behind


def test_points_of_strings_of_every_width() -> None:
    for text in ("", "plain", "é", "Ωmega", "東京", "a\U0001f600b", "\ud800", Word("own"), "x" * 1000):
        assert length_of(id(text)) == len(text)
        points = np.full(len(text) + 3, 7, np.uint32)
        copy_of(id(text), points, 2)
        assert points.tolist() == [7, 7, *map(ord, text), 7]


def test_a_list_that_takes_an_item_counts_it() -> None:
    new, old = "".join(["new", " item"]), "".join(["old", " item"])
    before = sys.getrefcount(new), sys.getrefcount(old)
    values = [old] * 10
    replace_all(id(values), id(new))
    assert values == [new] * 10
    assert (sys.getrefcount(new), sys.getrefcount(old)) == (before[0] + 10, before[1])
    del values
    assert sys.getrefcount(new) == before[0]


def test_new_lists_belong_to_the_list_alone() -> None:
    word, old = "".join(["a", " word"]), "".join(["an", " old", " one"])
    before = sys.getrefcount(word), sys.getrefcount(old)
    values: list = [old] * 3
    replace_by_lists(id(values), 4, id(word))
    assert values == [[word] * 4] * 3
    plain = [[word] * 4]
    assert sys.getrefcount(values[0]) == sys.getrefcount(plain[0])
    assert len({id(value) for value in values}) == 3
    del plain
    assert (sys.getrefcount(word), sys.getrefcount(old)) == (before[0] + 12, before[1])
    replace_by_lists(id(values), 0, id(word))
    assert values == [[], [], []]
    assert sys.getrefcount(word) == before[0]
