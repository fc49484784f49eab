"""The state of an unfinished training in a file: written now and then and at Ctrl-C, read by the next `fit`.

    solver's state, Watch's state ─► Checkpoint.write ─► file ─► Checkpoint.read ─► the same training goes on

The file has the form of a model file (model_file.py: arrays, checksums, written whole or not at all, no pickle). Its
header names the parameters and has a digest of the data and of the weights at the start: a training goes on from a
checkpoint of its own only. Parameters that decide when to stop, and how many threads work, may change.

A training that has converged (or run out of patience) deletes its checkpoint. One that was stopped keeps it: by Ctrl-C,
by a callback, or by max_iterations, which the next `fit` may raise.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.errors import ModelFileError
from tagwright.learners._estimator import Estimator
from tagwright.model_file import read_model, write_model

SECONDS = 30.0
"""Between two writings."""
KIND = "checkpoint"
MAY_CHANGE = (
    "features",
    "max_iterations",
    "tolerance",
    "patience",
    "warm_start",
    "n_jobs",
    "verbose",
    "callbacks",
    KIND,
)

State = dict[str, np.ndarray]


class Form(NamedTuple):
    """Of one array of a state."""

    shape: tuple[int | None, ...]  # None: any
    dtype: str = "float64"

    @classmethod
    def of(cls, array: np.ndarray) -> Form:
        return cls(array.shape, array.dtype.name)

    def fits(self, array: np.ndarray) -> bool:
        """Whether an array has this form, and finite numbers."""
        alike = array.dtype.name == self.dtype and array.ndim == len(self.shape)
        alike = alike and all(n in (None, m) for n, m in zip(self.shape, array.shape, strict=True))
        return alike and bool(np.isfinite(array).all())


class Checkpoint:
    """The file of one training. `parameters` and `digest` say which training that is."""

    def __init__(self, path: str | os.PathLike[str], parameters: Mapping[str, Any], digest: str) -> None:
        self.path = Path(path)
        if not self.path.absolute().parent.is_dir():
            raise ModelFileError(f"checkpoint: {self.path}: the folder does not exist. Make it first.")
        self.header: dict[str, Any] = {KIND: 1, "parameters": dict(parameters), "digest": digest}
        self._written = time.monotonic()

    def read(self) -> State | None:
        """The state, None if there is no file yet. A file that is not ours is refused."""
        if not self.path.exists():
            return None
        try:
            stored = read_model(self.path)
        except ModelFileError as error:
            raise ModelFileError(f"checkpoint: {error} {CURE}") from error
        if KIND not in stored.header:
            raise ModelFileError(f"checkpoint: {self.path}: found a model, expected a checkpoint. Give another file.")
        theirs: Any = stored.header.get("parameters")
        if not isinstance(theirs, dict):
            raise self.refusal()
        for name, mine in self.header["parameters"].items():
            if theirs.get(name) != mine:
                found = f"{name}={theirs.get(name)!r}, this one has {name}={mine!r}"
                raise ModelFileError(f"checkpoint: {self.path}: it is of a training with {found}. {CURE}")
        if stored.header != self.header:
            raise ModelFileError(f"checkpoint: {self.path}: it is of a training on other data. {CURE}")
        return stored.arrays

    def refusal(self) -> ModelFileError:
        """The error for a state that this training cannot have been in."""
        return ModelFileError(f"checkpoint: {self.path}: its state does not fit this training. {CURE}")

    def check(self, state: State, forms: Mapping[str, Form]) -> None:
        """Refuse a state with other arrays, or of other forms."""
        if set(state) != set(forms) or not all(form.fits(state[name]) for name, form in forms.items()):
            raise self.refusal()

    def write(self, state: State) -> None:
        """Put the state in place of the last one."""
        write_model(self.path, self.header, state, {})
        self._written = time.monotonic()

    def offer(self, state: Callable[[], State]) -> None:
        """Write the state if the last writing is long enough ago."""
        if time.monotonic() - self._written >= SECONDS:
            self.write(state())

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)


CURE = "Delete it to begin anew, or give another file."


def lasting_parameters(model: Estimator) -> dict[str, Any]:
    """The parameters that a training must share with its checkpoint."""
    params = {name: value for name, value in model.get_params().items() if name not in MAY_CHANGE}
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: object) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def digest_of(encoder: Encoder, labels: Iterable[str], sets: Iterable[Batch], numbers: Iterable[np.ndarray]) -> str:
    """A fingerprint of templates, vocabularies, labels, data sets and other arrays (weights at the start ...)."""
    digest = hashlib.blake2b(digest_size=16)
    strings = [encoder.features.to_text() if encoder.features else "", *labels, *encoder.given.values]
    for column in encoder.columns:
        strings += column.values
    if encoder.features is not None and encoder.features.clusters is not None:
        strings += chain.from_iterable(encoder.features.clusters.paths.items())
    digest.update("\0".join(strings).encode("utf-8", "surrogatepass"))
    arrays: list[tuple[np.ndarray, ...]] = [
        (d.offsets, d.forms, d.pointers, d.attributes, d.values, d.labels) for d in sets
    ]
    for array in (*chain.from_iterable(arrays), *numbers):
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
