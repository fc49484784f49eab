"""The names of labels, written into lists."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.learners._labels import name_labels


def test_names_are_cut_into_sentences() -> None:
    names = ["A", "longer", "é"]
    labels = np.array([2, 0, 0, 1], np.int32)
    found = name_labels(labels, np.array([0, 1, 1, 4]), names)
    assert found == [["é"], [], ["A", "A", "longer"]]
    assert found[2][0] is names[0]
    assert name_labels(labels[:0], np.array([0]), names) == []


def test_a_label_without_a_name_is_refused() -> None:
    class Shorter(list):
        def __len__(self) -> int:
            return 2

    for labels, names in (([0, 1], ["A"]), ([0, -1], ["A"]), ([0], ("A",)), ([0, 1], Shorter(["A"]))):
        with pytest.raises(IndexError, match="without a name"):
            name_labels(np.array(labels, np.int32), np.array([0, len(labels)]), names)
