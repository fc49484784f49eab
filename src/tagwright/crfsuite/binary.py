"""CRFsuite's binary models: `lCRF`, version 100, type `FOMC` (a first-order Markov CRF with dyad features).

    file       = header (48 bytes) | FEAT | labels (CQDB) | attributes (CQDB) | zeros to a multiple of 4 | LFRF | AFRF
    header     = "lCRF" | size | "FOMC" | 100 | 0 | how many labels | how many attributes
                 | offsets of FEAT, labels, attributes, LFRF, AFRF
    FEAT       = "FEAT" | size | features | each: type u32 (0 state, 1 transition) | from u32 | to u32 | weight f64
    LFRF, AFRF = the chunk's name | size | n | n offsets, in the file | each: how many | numbers of features
                 which features a label (LFRF) or an attribute (AFRF) has

All numbers are little-endian. A state feature leads from an attribute to a label, a transition from a label to the next
one. CRFsuite's writer numbers features by type, origin and label, leaves out those with the weight 0 and attributes
without any, puts two empty entries behind those of the labels in LFRF, and 0 for the number of features in the header.
`pack_model` does the same, so what it makes of a model that CRFsuite wrote are the same bytes.

    bytes ─► unpack_model ─► CrfsuiteModel ─► pack_model ─► bytes          quarks.py has the sections of names

A file is checked through and through before anything is made of it; every wrong one gives a ModelFileError.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Bytes, Doubles, Longs
from tagwright.atomic_file import atomic_file
from tagwright.crfsuite.quarks import find_names, gather_words, read_names, read_words, split_names, write_names
from tagwright.errors import ModelFileError
from tagwright.scores.pattern import LabelWeights
from tagwright.text.strings import Strings

MAGIC, TYPE, VERSION = b"lCRF", b"FOMC", 100
HEADER, CHUNK = 48, 12
"""Bytes of the header, and of the head of a chunk."""
FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1
BOUNDARIES = 2
"""Entries of LFRF behind those of the labels: of the beginning and the end, always empty."""
MOST_LABELS = 5_000
"""More would need hundreds of megabytes for their transitions."""
LARGEST = 1 << 32
RESTORE = "copy the file again from where it came, or train it again"


class ModelParts(NamedTuple):
    """The same as CrfsuiteModel, the names of attributes as letters: quicker to read."""

    labels: list[str]
    attributes: Strings
    transitions: LabelWeights
    states: LabelWeights


@dataclass(frozen=True, slots=True)
class CrfsuiteModel:
    """What a CRFsuite model says. It never changes.

    transitions: label p has the weights of the labels after it from transitions.pointers[p] on
    states: attribute a has the weights of labels from states.pointers[a] on
    """

    labels: list[str]
    attributes: list[str]
    transitions: LabelWeights
    states: LabelWeights


class Header(NamedTuple):
    """The numbers of the header, as they lie in the file."""

    size: int
    version: int
    num_features: int
    num_labels: int
    num_attrs: int
    off_features: int
    off_labels: int
    off_attrs: int
    off_labelrefs: int
    off_attrrefs: int


def read_model(path: str | os.PathLike[str]) -> CrfsuiteModel:
    """The model in a file."""
    with open(path, "rb") as file:
        data = file.read()
    return unpack_model(data, os.fspath(path))


def write_model(path: str | os.PathLike[str], model: CrfsuiteModel) -> None:
    """Write a model to a file, whole or not at all."""
    data = pack_model(model)
    with atomic_file(os.fspath(path)) as file:
        file.write(data)


def unpack_model(data: bytes, name: str = "bytes") -> CrfsuiteModel:
    """The model in the bytes of a file; errors call them by `name`."""
    parts = unpack_parts(data, name)
    if not parts.labels:
        raise ModelFileError(
            f"{name}: no usable CRFsuite model: it has no labels; train it again on sentences with labels"
        )
    return CrfsuiteModel(parts.labels, split_names(parts.attributes), parts.transitions, parts.states)


def unpack_parts(data: bytes, name: str = "bytes") -> ModelParts:
    """The same, without a Python string for every attribute. It may have no labels: CRFsuite makes such models of no
    data."""
    try:
        return _unpack(np.frombuffer(data, np.uint8))
    except ModelFileError as error:
        raise ModelFileError(f"{name}: no usable CRFsuite model: {error}; {RESTORE}") from None


def read_header(data: Bytes) -> Header:
    """The header of a model's bytes, checked."""
    if len(data) < HEADER or data[:4].tobytes() != MAGIC:
        found = "it is empty" if len(data) == 0 else f"it begins with {data[:8].tobytes()!r}"
        raise ModelFileError(f"{found}, expected {MAGIC.decode()} and a header of {HEADER} bytes")
    if data[8:12].tobytes() != TYPE:
        raise ModelFileError(f"its type is {data[8:12].tobytes()!r}, expected {TYPE.decode()}")
    header = Header(*read_words(data, 4, 1).tolist(), *read_words(data, 12, 9).tolist())
    if header.version != VERSION:
        raise ModelFileError(f"it has version {header.version}, expected {VERSION}")
    if header.size != len(data):
        raise ModelFileError(f"it has {len(data)} bytes, its header says {header.size}")
    if header.num_labels > MOST_LABELS:
        raise ModelFileError(f"it has {header.num_labels} labels; at most {MOST_LABELS} are possible")
    return header


def _unpack(data: Bytes) -> ModelParts:
    header = read_header(data)
    features = _read_features(data, header.off_features)
    labels = read_names(data[header.off_labels :], header.num_labels, "labels")
    attributes = find_names(data[header.off_attrs :], header.num_attrs, "attributes")
    transitions = _read_references(data, header.off_labelrefs, b"LFRF", len(labels), BOUNDARIES)
    states = _read_references(data, header.off_attrrefs, b"AFRF", attributes.n, 0)
    return ModelParts(
        labels,
        attributes,
        _choose_weights(features, TRANSITION, *transitions, len(labels)),
        _choose_weights(features, STATE, *states, len(labels)),
    )


def _chunk_items(data: Bytes, begin: int, name: bytes) -> tuple[int, int]:
    """How many items the chunk at `begin` has, and where it ends."""
    if not HEADER <= begin <= len(data) - CHUNK or data[begin : begin + 4].tobytes() != name:
        raise ModelFileError(f"the chunk {name.decode()} is not where the header says")
    size, n = read_words(data, begin + 4, 2).tolist()
    if not CHUNK <= size <= len(data) - begin:
        raise ModelFileError(f"the chunk {name.decode()} does not end in the file")
    return n, begin + size


def _read_features(data: Bytes, begin: int) -> NDArray[np.void]:
    n, end = _chunk_items(data, begin, b"FEAT")
    if CHUNK + FEATURE.itemsize * n != end - begin:
        raise ModelFileError(f"the chunk FEAT has {end - begin} bytes, which are not {n} features")
    features = np.frombuffer(data[begin + CHUNK : end].tobytes(), FEATURE)
    if not np.isfinite(features["weight"]).all():
        raise ModelFileError("a weight is not finite")
    return features


def _read_references(data: Bytes, begin: int, name: bytes, n: int, more: int) -> tuple[Longs, Longs]:
    """The numbers of the features of each of n owners: where they begin [n + 1], and all of them. more: owners behind
    these, which are not looked at."""
    found, end = _chunk_items(data, begin, name)
    if found != n + more or CHUNK + 4 * found > end - begin:
        raise ModelFileError(f"the chunk {name.decode()} has {found} entries, expected {n + more}")
    offsets = read_words(data, begin + CHUNK, n)
    if n == 0:
        return np.zeros(1, np.int64), np.zeros(0, np.int64)
    if offsets.min() < begin + CHUNK + 4 * found or offsets.max() > end - 4:
        raise ModelFileError(f"an entry of the chunk {name.decode()} does not lie in it")
    counts = gather_words(data, offsets)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    if (offsets + 4 + 4 * counts).max() > end or 4 * int(pointers[-1]) > end - begin:
        raise ModelFileError(f"an entry of the chunk {name.decode()} does not end in it")
    where = np.repeat(offsets + 4 - 4 * pointers[:-1], counts) + 4 * np.arange(pointers[-1])
    return pointers, gather_words(data, where)


def _choose_weights(
    features: NDArray[np.void], kind: int, pointers: Longs, which: Longs, n_labels: int
) -> LabelWeights:
    """The weights of the features that owners refer to."""
    if which.max(initial=-1) >= len(features):
        raise ModelFileError(f"feature {which.max()} is referred to, but there are {len(features)}")
    chosen = features[which]
    owners = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    if (chosen["type"] != kind).any() or (chosen["source"] != owners).any():
        raise ModelFileError("a feature does not belong to what refers to it")
    labels = chosen["label"].astype(np.int64)
    if labels.max(initial=-1) >= n_labels:
        raise ModelFileError(f"a feature has label {labels.max()}, but there are {n_labels}")
    keys = owners * n_labels + labels
    if (np.diff(keys) <= 0).any() and len(np.unique(keys)) < len(keys):
        raise ModelFileError("a feature is there twice")
    return LabelWeights(pointers, labels.astype(np.int32), chosen["weight"].astype(np.float64))


def transition_matrix(model: CrfsuiteModel | ModelParts) -> Doubles:
    """The scores of label pairs [Y, Y]."""
    Y, weights = len(model.labels), model.transitions
    matrix = np.zeros((Y, Y))
    matrix[np.repeat(np.arange(Y), np.diff(weights.pointers)), weights.labels] = weights.values
    return matrix


def pack_model(model: CrfsuiteModel) -> bytes:
    """The file of a model, as CRFsuite writes it."""
    model = drop_zeros(model)
    n_states = len(model.states.values)
    features = np.concatenate([_pack_weights(STATE, model.states), _pack_weights(TRANSITION, model.transitions)])
    chunk = _pack_chunk(b"FEAT", len(features), features.tobytes())
    labels, attributes = write_names(model.labels, "labels"), write_names(model.attributes, "attributes")
    off_labels = HEADER + len(chunk)
    off_attributes = off_labels + len(labels)
    end = off_attributes + len(attributes)
    zeros = bytes(-end % 4)
    off_label_references = end + len(zeros)
    of_labels = _pack_references(b"LFRF", off_label_references, model.transitions.pointers, n_states, BOUNDARIES)
    off_references = off_label_references + len(of_labels)
    of_attributes = _pack_references(b"AFRF", off_references, model.states.pointers, 0, 0)
    size = off_references + len(of_attributes)
    if size >= LARGEST:
        raise ModelFileError(f"the model would have {size} bytes; a CRFsuite file has at most {LARGEST - 1}")
    offsets = [HEADER, off_labels, off_attributes, off_label_references, off_references]
    numbers = [VERSION, 0, len(model.labels), len(model.attributes), *offsets]
    header = MAGIC + np.array([size], "<u4").tobytes() + TYPE + np.array(numbers, "<u4").tobytes()
    return b"".join([header, chunk, labels, attributes, zeros, of_labels, of_attributes])


def drop_zeros(model: CrfsuiteModel) -> CrfsuiteModel:
    """The model without features whose weight is 0, and without attributes that have no other; each owner's features
    in the order of labels."""
    states = _sorted_weights(model.states, len(model.labels))
    used = np.diff(states.pointers) > 0
    pointers = np.concatenate([[0], states.pointers[1:][used]])
    attributes = [name for name, keep in zip(model.attributes, used.tolist(), strict=True) if keep]
    transitions = _sorted_weights(model.transitions, len(model.labels))
    return CrfsuiteModel(model.labels, attributes, transitions, states._replace(pointers=pointers))


def _sorted_weights(weights: LabelWeights, n_labels: int) -> LabelWeights:
    owners = np.repeat(np.arange(len(weights.pointers) - 1), np.diff(weights.pointers))
    used = np.flatnonzero(weights.values)
    order = used[np.argsort((owners * n_labels + weights.labels)[used], kind="stable")]
    counts = np.bincount(owners[used], minlength=len(weights.pointers) - 1)
    return LabelWeights(np.concatenate([[0], np.cumsum(counts)]), weights.labels[order], weights.values[order])


def _pack_weights(kind: int, weights: LabelWeights) -> NDArray[np.void]:
    packed = np.empty(len(weights.values), FEATURE)
    packed["type"], packed["label"], packed["weight"] = kind, weights.labels, weights.values
    packed["source"] = np.repeat(np.arange(len(weights.pointers) - 1), np.diff(weights.pointers))
    return packed


def _pack_chunk(name: bytes, n: int, content: bytes) -> bytes:
    return name + np.array([CHUNK + len(content), n], "<u4").tobytes() + content


def _pack_references(name: bytes, begin: int, pointers: Longs, first: int, more: int) -> bytes:
    """The references of owners whose features are numbered in their order from `first` on."""
    n, counts = len(pointers) - 1, np.diff(pointers)
    content = np.zeros(n + more + n + int(pointers[-1]), "<u4")
    entries = n + more + pointers[:-1] + np.arange(n)  # where they begin, in words
    content[:n] = begin + CHUNK + 4 * entries
    content[entries] = counts
    numbers = np.ones(n + int(pointers[-1]), np.bool_)
    numbers[entries - n - more] = False
    content[n + more :][numbers] = first + np.arange(pointers[-1])
    return _pack_chunk(name, n + more, content.tobytes())
