"""The names of labels, cut into sentences."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.encode.text import name_labels


def test_names_are_cut_into_sentences() -> None:
    names = np.array(["A", "longer", "é"], object)
    labels = np.array([2, 0, 0, 1], np.int32)
    found = name_labels(labels, np.array([0, 1, 1, 4]), names)
    assert found == [["é"], [], ["A", "A", "longer"]]
    assert found[2][0] is names[0]
    assert name_labels(labels[:0], np.array([0]), names) == []


def test_a_label_without_a_name_is_refused() -> None:
    with pytest.raises(IndexError):
        name_labels(np.array([0, 2], np.int32), np.array([0, 2]), np.array(["A", "B"], object))
