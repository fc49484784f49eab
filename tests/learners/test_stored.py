"""Model files whose parts do not belong together are refused when they are read, not met by kernels later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from toy import toy_words

from tagwright import CRF, load
from tagwright.errors import ModelFileError
from tagwright.model_file import read_model, write_model


def exchange(counts: np.ndarray) -> np.ndarray:
    """The same sum, and one below 0."""
    counts[0], counts[1] = -1, counts[0] + counts[1] + 1
    return counts


@pytest.fixture
def model(tmp_path: Path) -> Path:
    X, y = toy_words(20)
    path = tmp_path / "model.tw"
    CRF("word suffix(1) @ 0\nword[-1] & word[0]", tolerance=0.1).fit(X, y).save(path)
    return path


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("conjunction0.keys", lambda keys: np.concatenate([keys[:1], keys[:-1]]), "combinations of conjunction 0"),
        ("conjunction0.keys", lambda keys: keys[::-1], "combinations of conjunction 0"),
        ("conjunction0.keys", lambda keys: keys - keys[0] - 1, "combinations of conjunction 0"),
        ("conjunction0.keys", lambda keys: keys[:, None], "2 axes"),
        ("column0.codes", lambda codes: codes[:-1], "codes of column 0"),
        ("column0.codes", lambda codes: codes[:, :1], "codes of column 0"),
        ("column0.codes", lambda codes: codes + 1, "codes of column 0"),
        ("column0.codes", lambda codes: codes - 1, "codes of column 0"),
        ("pattern.labels", lambda labels: labels.astype(np.int16) - 1, "weights do not fit"),
        ("pattern.labels", lambda labels: labels + 1, "weights do not fit"),
        ("pattern.counts", lambda counts: exchange(counts.astype(np.int16)), "weights do not fit"),
        ("pattern.counts", lambda counts: counts[:-1], "weights do not fit"),
    ],
)
def test_parts_that_do_not_fit(model: Path, name: str, change: object, message: str) -> None:
    stored = read_model(model)
    arrays = {**stored.arrays, name: np.ascontiguousarray(change(stored.arrays[name]))}  # type: ignore[operator]
    write_model(model, stored.header, arrays, stored.strings)
    with pytest.raises(ModelFileError, match=message):
        load(model)
