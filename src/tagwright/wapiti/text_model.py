"""Wapiti's models, as version 1.5 writes them: text.

    model     = #mdl#KIND#WEIGHTS | reader | index=weight, a line each, weights in hexadecimal (0x1.8p-3)
    reader    = #rdr#PATTERNS/COLUMNS/AUTO | patterns | names of labels | names of observations
    names     = #qrk#HOW MANY | strings
    string    = length in bytes, a colon, the bytes, a comma and a line end

KIND is 0 (maximum entropy), 1 (MEMM) or 2 (CRF); older files have none. COLUMNS is the last column that patterns look
at. The first letter of an observation says what weights it has, in this order: `u` for each label, `b` for each pair of
labels, `*` both. Weights are indexed through all observations; those that are 0 are left out.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Ints, Longs
from tagwright.errors import ModelFileError

MAGIC = b"#mdl#"
MEMM = 1
MOST_LABELS = 5_000
RESTORE = "copy the file again from where it came, or train it again"
_HEAD = re.compile(rb"#mdl#(?:(\d{1,9})#)?(\d{1,18})\n#rdr#(\d{1,9})/(\d{1,9})(?:/(\d))?\n")
_COUNT = re.compile(rb"#qrk#(\d{1,18})\n")
_LENGTH = re.compile(rb"(\d{1,9}):")


@dataclass(frozen=True, slots=True)
class WapitiModel:
    """What a model says. Weight k belongs to observation owners[k] and label labels[k]; where that is a pair, after the
    label previous[k], else that is −1."""

    kind: int
    prefixed: bool  # whether observations got their `u` from Wapiti: its data have none
    patterns: list[str]
    label_names: list[str]
    observations: list[str]
    owners: Longs
    previous: Ints
    labels: Ints
    values: Doubles


class _Weights(NamedTuple):
    indices: Longs
    values: Doubles


def read_model(path: str | os.PathLike[str]) -> WapitiModel:
    """The model in a file."""
    with open(path, "rb") as file:
        return parse_model(file.read(), os.fspath(path))


def parse_model(data: bytes, name: str = "bytes") -> WapitiModel:
    """The model in the bytes of a file; errors call them by `name`."""
    try:
        return _parse(data)
    except ModelFileError as error:
        raise ModelFileError(f"{name}: no usable Wapiti model: {error}; {RESTORE}") from None


def _parse(data: bytes) -> WapitiModel:
    head = _HEAD.match(data)
    if head is None:
        raise ModelFileError(f"it begins with {data[:24]!r}, expected #mdl#2#... and #rdr#...")
    kind, n_weights, n_patterns, _, auto = (int(number or 0) for number in head.groups())
    patterns, end = _read_strings(data, head.end(), n_patterns, "patterns")
    label_names, end = _read_names(data, end, "labels")
    observations, end = _read_names(data, end, "observations")
    if not 1 <= len(label_names) <= MOST_LABELS:
        raise ModelFileError(f"it has {len(label_names)} labels; 1 to {MOST_LABELS} are possible")
    for found in (*patterns, *observations):
        if found[:1] not in ("u", "b", "*"):
            raise ModelFileError(f"found {found[:40]!r}, expected a pattern or observation that begins with u, b or *")
    weights = _read_weights(data[end:], n_weights)
    return WapitiModel(
        kind, bool(auto), patterns, label_names, observations, *_place_weights(weights, observations, len(label_names))
    )


def _read_names(data: bytes, begin: int, what: str) -> tuple[list[str], int]:
    found = _COUNT.match(data, begin)
    if found is None:
        raise ModelFileError(f"found {data[begin : begin + 24]!r}, expected how many {what} there are (#qrk#...)")
    names, end = _read_strings(data, found.end(), int(found[1]), what)
    if len(set(names)) < len(names):
        raise ModelFileError(f"the same name twice among the {what}")
    return names, end


def _read_strings(data: bytes, begin: int, n: int, what: str) -> tuple[list[str], int]:
    """n strings from data[begin] on, and where they end."""
    strings = []
    for number in range(n):
        found = _LENGTH.match(data, begin)
        end = -1 if found is None else found.end() + int(found[1])
        if found is None or data[end : end + 2] != b",\n":
            raise ModelFileError(f"number {number} of {n} {what} does not end where it says")
        try:
            strings.append(data[found.end() : end].decode("utf-8"))
        except UnicodeDecodeError:
            raise ModelFileError(
                f"number {number} of the {what} is not UTF-8: {data[found.end() : end][:40]!r} (patterns that "
                "cut words cut between bytes)"
            ) from None
        begin = end + 2
    return strings, begin


def _read_weights(data: bytes, n: int) -> _Weights:
    try:
        fields = data.decode("ascii").replace("=", " ").split()
        indices = np.array(list(map(int, fields[::2])), np.int64)
        values = np.array(list(map(float.fromhex, fields[1::2])), np.float64)
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"a weight cannot be read ({error})") from None
    if len(indices) != n or len(values) != n:
        raise ModelFileError(f"it has {len(indices)} weights, its first line says {n}")
    if not np.isfinite(values).all():
        raise ModelFileError("a weight is not finite")
    if (np.diff(indices) <= 0).any():
        raise ModelFileError("the weights are not in order")
    return _Weights(indices, values)


def _place_weights(weights: _Weights, observations: list[str], Y: int) -> tuple[Longs, Ints, Ints, Doubles]:
    """The observation, the label before and the label of every weight; and the weights."""
    kinds = np.frombuffer("".join([name[0] for name in observations]).encode("ascii"), np.uint8)
    single, pair = (kinds != ord("b")) * Y, (kinds != ord("u")) * Y * Y
    ends = np.cumsum(single + pair, dtype=np.int64)
    if len(weights.indices) and not 0 <= weights.indices[0] <= weights.indices[-1] < (ends[-1] if len(ends) else 0):
        raise ModelFileError("a weight belongs to no observation")
    owners = np.searchsorted(ends, weights.indices, side="right")
    within = weights.indices - (ends - single - pair)[owners]
    of_pair = within - single[owners]
    previous = np.where(of_pair >= 0, of_pair // Y, -1)
    return (
        owners,
        previous.astype(np.int32),
        np.where(of_pair >= 0, of_pair, within).astype(np.int32) % Y,
        weights.values,
    )
