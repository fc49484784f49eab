"""Models in pickles: found whatever the protocol and compression, and nothing of a pickle is run."""

from __future__ import annotations

import bz2
import gzip
import io
import pickle
import random
import zlib
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from crfsuite.models import random_data, train

from tagwright.crfsuite import find_model, unpack_model
from tagwright.errors import ModelFileError


class FileResource:
    """Its state is that of sklearn_crfsuite._fileresource.FileResource."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __getstate__(self) -> dict[str, Any]:
        return {"name": None, "auto": True, "suffix": ".crfsuite", "__FILE_RESOURCE_DATA__": self.data}


class Estimator:
    """As sklearn_crfsuite.CRF: parameters, and the file."""

    def __init__(self, data: bytes) -> None:
        self.algorithm, self.c1, self.modelfile = "lbfgs", 0.1, FileResource(data)


class Trap:
    """To load it is to run code."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return train(tmp_path_factory.mktemp("pickled") / "a", *random_data(4))


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_protocol(data: bytes, protocol: int) -> None:
    assert find_model(pickle.dumps(Estimator(data), protocol)) == data
    assert find_model(gzip.compress(pickle.dumps([Estimator(data), 1, data], protocol))) == data


@pytest.mark.parametrize("compress", [0, 3, ("gzip", 3), ("bz2", 3), ("lzma", 3), ("xz", 3), ("zlib", 9), ("zlib", 1)])
def test_joblib_files(data: bytes, compress: Any) -> None:
    """With arrays too, whose numbers are no opcodes."""
    for content in (Estimator(data), {"a": np.arange(300.0), "crf": Estimator(data), "b": np.zeros(3)}):
        file = io.BytesIO()
        joblib.dump(content, file, compress=compress)
        assert find_model(file.getvalue()) == data


def test_a_compressed_model_file(data: bytes) -> None:
    assert find_model(bz2.compress(data)) == data


def test_nothing_is_run(data: bytes, tmp_path: Path) -> None:
    for protocol in range(6):
        assert find_model(pickle.dumps([Trap(tmp_path / "run"), Estimator(data)], protocol)) == data
    assert not (tmp_path / "run").exists()
    pickle.loads(pickle.dumps(Trap(tmp_path / "run")))
    assert (tmp_path / "run").exists()  # the trap works


def test_other_pickles_are_refused(data: bytes) -> None:
    other = Estimator(data.replace(b"w1", b"v1"))
    for content, reason in (
        (pickle.dumps({"a": 1}), "without a CRFsuite model"),
        (pickle.dumps(Estimator(data[:-1])), "without a CRFsuite model"),
        (pickle.dumps([Estimator(data), other]), "2 CRFsuite models"),
        (pickle.dumps(Estimator(data))[:-9], "without"),
        (gzip.compress(pickle.dumps(Estimator(data)), mtime=0)[:-30], "is cut"),
        (zlib.compress(bytes(50_000_000)), "64 times as large"),
        (b"x\x9cabcdef", "damaged compressed file"),
        (b"\x04\x22\x4d\x18abc", "lz4"),
    ):
        with pytest.raises(ModelFileError, match=f"^my.pkl: found .*{reason}"):
            find_model(content, "my.pkl")


def test_mutated_pickles_are_errors_or_models(data: bytes) -> None:
    chance = random.Random(0)
    pickles = [pickle.dumps({"a": 1, "crf": Estimator(data), "b": [2.5, None]}, protocol) for protocol in (0, 2, 4)]
    pickles.append(zlib.compress(pickles[2]))
    found = 0
    for _ in range(600):
        changed = bytearray(chance.choice(pickles))
        for _ in range(chance.choice([1, 3])):
            changed[chance.choice([chance.randrange(len(changed)), chance.randrange(300)])] = chance.randrange(256)
        try:
            unpack_model(find_model(bytes(changed)))
            found += 1
        except ModelFileError:
            pass
    assert 100 < found < 550
