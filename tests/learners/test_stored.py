"""What a model file is made of: codes in as few bytes as they need, and no fewer."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.learners._stored import _narrow


@pytest.mark.parametrize(
    ("most", "kind"), [(-1, np.int8), (127, np.int8), (128, np.int16), (32_767, np.int16), (32_768, np.int32)]
)
def test_codes_take_as_few_bytes_as_the_largest_needs(most: int, kind: type) -> None:
    codes = np.array([[-1, 0], [most, 3]], np.int32)
    found = _narrow(codes)
    assert found.dtype == kind
    assert (found == codes).all()
    assert _narrow(codes[:0]).dtype == np.int8
