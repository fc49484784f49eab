"""The memory of training with many labels: weights come into being where they are changed, so that it does not grow
with attributes times labels."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from tagwright.learners import LEARNERS

N_LABELS, N_SENTENCES, LENGTH = 800, 200, 12


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize(
    ("name", "params"),
    [("perceptron", {"epochs": 2}), ("guided", {"epochs": 1, "beam": 1}), ("hmsvm", {"max_iterations": 2})],
)
def test_memory_of_training_does_not_grow_with_attributes_times_labels(name: str, params: dict[str, Any]) -> None:
    """Nearly every attribute occurs once, and most labels are rare."""
    rng = np.random.default_rng(0)
    X = [["".join(rng.choice([*"abcdefgh"], 8)) for _ in range(LENGTH)] for _ in range(N_SENTENCES)]
    rare = rng.random((N_SENTENCES, LENGTH)) < 0.3
    y = [[f"L{rng.integers(N_LABELS) if one else 0}" for one in row] for row in rare]
    toy = [["a", "b"]] * 3, [["A", "B"]] * 3
    model = LEARNERS[name](features="pos", random_state=0, **params)
    model.fit(*toy)  # compile first
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    table = model.encoder_.n_attributes * N_LABELS * 4
    assert table > 80 * 2**20
    assert peak < table
