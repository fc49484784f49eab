"""The stored form of a learner: what `save` writes and `load` reads, by way of model_file.py.

header    learner, parameters, labels, templates, what training found, and the layout of the training file
strings   the values of every column and of every term; the names of ready-made attributes
arrays    codes, keys of conjunctions, the pattern and its weights (zeros left out), the chain, the tag dictionary
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Ints
from tagwright.attributes.clusters import WordClusters
from tagwright.attributes.templates import FeatureSet, Term
from tagwright.calibration import Platt
from tagwright.encode.encoder import Encoder, column_terms
from tagwright.encode.forms import N_EDGES, ColumnForms, Vocabulary
from tagwright.errors import ModelFileError
from tagwright.learners._schema import check_stored
from tagwright.learners._stored_chain import restore_chain, store_chain
from tagwright.model_file import StoredModel, pack_model, read_model, restore_pointers, unpack_model, write_model
from tagwright.scores.linear import LinearMap, LinearScores
from tagwright.scores.pattern import Pattern

Arrays = dict[str, Any]
Learner = Any  # a SequenceTagger; _base.py, where that is, imports this file
NOT_STORED = ("callbacks", "verbose", "n_jobs", "warm_start", "checkpoint")
FACTS = ("n_iter_", "objective_", "converged_")


def store(model: Learner, path: Path) -> None:
    """Write `model` to `path`."""
    write_model(path, *_parts(model))


def pack(model: Learner) -> bytes:
    """The bytes that `store` would write."""
    return pack_model(*_parts(model))


def unpack(model: Learner, data: bytes) -> None:
    """Make a learner with its parameters what it was when `pack` gave these bytes."""
    stored = unpack_model(data, type(model).__name__)
    check_stored(stored)
    _fill(model, stored)


def _parts(model: Learner) -> tuple[dict[str, Any], Arrays, dict[str, list[str]]]:
    """Header, arrays and strings."""
    arrays: Arrays = {}
    strings: dict[str, list[str]] = {"labels": model.labels_}
    features = model.encoder_.features
    header = {
        "learner": model.learner,
        "params": {n: _plain(v) for n, v in model.get_params().items() if n not in NOT_STORED},
        "features": None if features is None else {"name": features.name, "text": features.to_text()},
        "width": model.encoder_.width,
        "facts": {name: _plain(getattr(model, name)) for name in FACTS if hasattr(model, name)},
        "span_calibration": None if model.span_calibration_ is None else asdict(model.span_calibration_),
        "info": getattr(model, "info_", {}),
    }
    if features is not None and features.clusters is not None:
        _store_clusters(features.clusters, arrays, strings)
    _store_encoder(model.encoder_, arrays, strings)
    model._store_scores(arrays)
    model._store_more(arrays, strings)
    store_chain(model.decoder_, arrays)
    return header, arrays, strings


def restore(path: Path, learners: Mapping[str, Callable[..., Learner]]) -> Learner:
    """Read the model at `path`; `learners` by name."""
    stored = read_model(path)
    try:
        model = _restore(stored, learners)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, ModelFileError):
            raise ModelFileError(f"{path}: {error}") from error
        raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from error
    gc.collect(1)  # through the model's lists of strings now (2 ms), rather than while the first text is tagged
    return model


def _restore(stored: StoredModel, learners: Mapping[str, Callable[..., Learner]]) -> Learner:
    header: Any = stored.header
    if "checkpoint" in header:
        raise ModelFileError("found a checkpoint of an unfinished training, expected a model; finish the training")
    check_stored(stored)
    if header["learner"] not in learners:
        raise ModelFileError(f"unknown learner {header['learner']!r}; this version has: {', '.join(learners)}")
    params = dict(header["params"])
    if params.get("features") == CUSTOM:
        params["features"] = _restore_features(stored)
    model = learners[header["learner"]](**params)
    model.check_params()
    _fill(model, stored)
    return model


def _restore_features(stored: StoredModel) -> FeatureSet | None:
    header: Any = stored.header
    features = None
    if header["features"] is not None:
        features = FeatureSet.parse(header["features"]["text"], name=header["features"]["name"], location="model")
        if "clusters.words" in stored.strings:
            features = replace(features, clusters=_restore_clusters(stored))
    return features


def _fill(model: Learner, stored: StoredModel) -> None:
    """Give a learner what training found."""
    header: Any = stored.header
    model.labels_ = list(stored.strings["labels"])
    model.encoder_ = _restore_encoder(_restore_features(stored), header["width"], stored)
    for name, value in header["facts"].items():
        setattr(model, name, value)
    model.info_ = header["info"]
    calibration = header.get("span_calibration")
    model.span_calibration_ = None if calibration is None else Platt(**calibration)
    model.decoder_ = restore_chain(model, model._restore_scores(stored.arrays), stored.arrays)
    model._restore_more(stored.arrays, stored.strings)
    model.decoder_.make_ready()


def _store_clusters(clusters: WordClusters, arrays: Arrays, strings: dict[str, list[str]]) -> None:
    """Words, distinct paths, and which word has which."""
    paths = sorted(set(clusters.paths.values()))
    numbers = {path: number for number, path in enumerate(paths)}
    strings["clusters.words"], strings["clusters.paths"] = list(clusters.paths), paths
    arrays["clusters.of"] = np.array([numbers[path] for path in clusters.paths.values()], np.uint32)


def _restore_clusters(stored: StoredModel) -> WordClusters:
    words, paths, numbers = (
        stored.strings["clusters.words"],
        stored.strings["clusters.paths"],
        stored.arrays["clusters.of"],
    )
    if numbers.shape != (len(words),) or numbers.max(initial=0) >= len(paths):
        raise ModelFileError("the word clusters do not fit together")
    return WordClusters({word: paths[n] for word, n in zip(words, numbers.tolist(), strict=True)})


CUSTOM = "<the templates of this model>"


def _plain(value: object) -> Any:
    """A parameter as JSON; templates are stored on their own."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return value.item() if isinstance(value, np.generic) else CUSTOM


def _store_encoder(encoder: Encoder, arrays: Arrays, strings: dict[str, list[str]]) -> None:
    if encoder.features is None:
        strings["given"] = encoder.given.values
    for c, column in enumerate(encoder.columns):
        strings[f"column{c}.values"] = column.values
        arrays[f"column{c}.codes"] = _narrow(column.codes)
        for k, vocabulary in enumerate(column.vocabularies):
            strings[f"column{c}.term{k}"] = vocabulary.values
    for k, conjunction in enumerate(encoder.conjunctions.members):
        arrays[f"conjunction{k}.keys"] = conjunction.table.keys


def _narrow(codes: Ints) -> NDArray[np.signedinteger[Any]]:
    """The same numbers in as few bytes as the largest needs: most of a small model is this table."""
    most = int(codes.max(initial=0))
    return codes.astype(next(kind for kind in (np.int8, np.int16, np.int32) if most <= np.iinfo(kind).max))


def _restore_encoder(features: FeatureSet | None, width: int, stored: StoredModel) -> Encoder:
    if (features is None) != (width == 0) or (features is not None and width <= max(column_terms(features))):
        raise ModelFileError(f"items of {width} columns do not fit the templates")
    if features is None:
        return Encoder.build(None, width, given=Vocabulary(stored.strings["given"]))
    columns = [
        _restore_column(c, column, terms, features, stored)
        for c, (column, terms) in enumerate(column_terms(features).items())
    ]
    keys = []
    for k in range(len(features.conjunctions)):
        keys.append(stored.arrays[f"conjunction{k}.keys"].astype(np.int64))
        if (np.diff(keys[k]) <= 0).any() or keys[k].min(initial=0) < 0:
            raise ModelFileError(f"the combinations of conjunction {k} are not in order")
    return Encoder.build(features, width, columns, keys)


def _restore_column(c: int, column: int, terms: list[Term], features: FeatureSet, stored: StoredModel) -> ColumnForms:
    vocabularies = [Vocabulary(stored.strings[f"column{c}.term{k}"]) for k in range(len(terms))]
    narrow, values = stored.arrays[f"column{c}.codes"], Vocabulary(stored.strings[f"column{c}.values"])
    codes = narrow.astype(np.int32)
    limits = np.array([len(vocabulary) for vocabulary in vocabularies])
    fits = codes.shape == (N_EDGES + len(values), len(terms))
    if not fits or (codes >= limits).any() or (codes < -1).any():
        raise ModelFileError(f"the codes of column {c} do not fit its values")
    return ColumnForms.build(column, terms, features.clusters, values.strings, codes, vocabularies)


def store_linear(scores: LinearScores, arrays: Arrays) -> None:
    """Pattern and weights, without zeros."""
    used = scores.weights.values != 0
    counts = np.add.reduceat(np.append(used, False), scores.pattern.pointers[:-1], dtype=np.int64)
    counts[np.diff(scores.pattern.pointers) == 0] = 0
    arrays["pattern.counts"] = counts.astype(np.uint16)
    arrays["pattern.labels"] = scores.pattern.labels[used].astype(np.uint8 if scores.n_labels <= 256 else np.uint16)
    arrays["weights"] = scores.weights.values[used]


def restore_linear(model: Learner, arrays: Arrays) -> LinearScores:
    """The running scores of a stored linear model."""
    counts, labels = arrays["pattern.counts"], arrays["pattern.labels"].astype(np.int32)
    pointers = restore_pointers(counts, len(labels), "the weights do not fit the attributes")
    fits = len(counts) == model.encoder_.n_attributes and labels.shape == arrays["weights"].shape
    if not fits or not 0 <= labels.min(initial=0) <= labels.max(initial=0) < len(model.labels_):
        raise ModelFileError("the weights do not fit the attributes")
    dtype = arrays["weights"].dtype.type
    if dtype not in (np.float32, np.float64):
        raise ModelFileError(f"the weights are {dtype.__name__}")
    return LinearMap.build(model.encoder_, Pattern(pointers, labels), len(model.labels_), dtype).at(arrays["weights"])
