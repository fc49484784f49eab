"""The tag dictionary: which labels frequent, rare and unknown words may have."""

from __future__ import annotations

import numpy as np

from tagwright.attributes.lexicon import TagDictionary


def sets(found: TagDictionary, forms: list[int]) -> list[list[int]]:
    rows = found.find(np.array([[0] * len(forms), forms], np.int32))
    return [found.labels[found.pointers[r] : found.pointers[r + 1]].tolist() for r in rows]


def test_frequent_rare_and_unknown_words() -> None:
    #         word 2 has labels 0 and 3, word 3 label 1 twice, word 4 label 4 once, word 5 is as word 2
    forms = np.array([[0] * 7, [2, 3, 2, 4, 3, 5, 5]], np.int32)
    labels = np.array([3, 1, 0, 4, 1, 0, 3], np.int32)
    found = TagDictionary.learn(forms, labels, source=1, n_forms=6, n_labels=9, least=2)
    assert sets(found, [2, 3, 5]) == [[0, 3], [1], [0, 3]]
    assert sets(found, [4, 6, 100]) == [[4], [4], [4]]  # rare, unknown: what rare words had
    assert found.n_words == 3
    assert len(found.sizes) == 3  # words 2 and 5 share a set


def test_every_word_frequent_leaves_unknown_words_free() -> None:
    forms, labels = np.array([[2, 3]], np.int32), np.array([0, 1], np.int32)
    found = TagDictionary.learn(forms, labels, source=0, n_forms=4, n_labels=3, least=1)
    assert found.labels[: found.pointers[1]].tolist() == [0, 1, 2]
    assert found.n_words == 2


def test_more_than_eight_labels() -> None:
    """Sets are told apart by all of their labels, not by the first eight."""
    forms, labels = np.array([[0, 1, 2]], np.int32), np.array([11, 12, 3], np.int32)
    found = TagDictionary.learn(forms, labels, source=0, n_forms=3, n_labels=13, least=1)
    row = found.find(np.array([[0, 1, 2]], np.int32))
    assert [found.labels[found.pointers[r] : found.pointers[r + 1]].tolist() for r in row] == [[11], [12], [3]]


def test_the_open_class_is_what_many_rare_words_have() -> None:
    """2,500 rare words: two of them are too few to open a label to all, three are enough; the two keep it."""
    forms = np.arange(2500, dtype=np.int32)[None]
    labels = np.zeros(2500, np.int32)
    labels[:2], labels[2:5] = 1, 2
    found = TagDictionary.learn(forms, labels, source=0, n_forms=2500, n_labels=4, least=2)
    row = found.find(np.array([[0, 1, 2, 5, 2500]], np.int32))
    sets = [found.labels[found.pointers[r] : found.pointers[r + 1]].tolist() for r in row]
    assert sets == [[0, 1, 2], [0, 1, 2], [0, 2], [0, 2], [0, 2]]
    assert found.n_words == 0
