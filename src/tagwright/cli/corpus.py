"""Files as the commands take them: where they are, how they are read, labelled sentences read whole.

The word `sample` stands for the embedded corpus wherever a file is taken (./sample is a file of that name).
"""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from tagwright.errors import DataError, ParameterError
from tagwright.io import FORMATS, Layout, Sentences, read_like, read_sentences
from tagwright.io.crfsuite import LAYOUT as CRFSUITE_LAYOUT
from tagwright.io.lines import Lines
from tagwright.learners import SequenceTagger
from tagwright.sequence import Labelled

SAMPLE = "sample"


@dataclass(frozen=True, slots=True)
class LabelledFile(Labelled):
    """The sentences of a file, its name, and how it was read."""

    name: str
    layout: Layout


def find_source(name: str) -> str:
    """The path that a file argument means."""
    if name != SAMPLE:
        return name
    from tagwright.datasets import sample_path

    return str(sample_path())


def reading_options(arguments: Namespace) -> dict[str, Any]:
    """What the command line says of how a file is read, as `read_like` takes it."""
    label = "auto" if arguments.column is None else arguments.column
    return {"format": arguments.format, "label": label, "inputs": arguments.inputs, "encoding": arguments.encoding}


def open_training(arguments: Namespace, name: str) -> Sentences:
    """The sentences of a training file; the first lines are read to find its layout."""
    options = reading_options(arguments)
    if name == SAMPLE and options["label"] == "auto":
        from tagwright.datasets import DEFAULT_COLUMN

        options["label"] = DEFAULT_COLUMN
    return read_sentences(find_source(name), **options)


def open_like(source: str | Lines, trained: Layout, **options: Any) -> Sentences:
    """The sentences of a labelled file, read as the training file was; `options` override that."""
    options = {"label": "auto"} | options
    found = source if isinstance(source, Lines) else find_source(source)
    if trained.label is None and options["label"] == "auto":  # a model that was trained in Python
        return read_sentences(found, n_inputs=trained.n_inputs, **options)
    return read_like(found, trained, labelled=True, **options)


def training_layout(model: SequenceTagger) -> Layout:
    """How to read files for a model: as its training file was, or by the columns of its items if there was none."""
    stored = model.info_.get("layout")
    if stored is not None:
        return Layout.from_json(stored, FORMATS)
    width = model.encoder_.width
    return Layout("columns", None, tuple(range(width))) if width else CRFSUITE_LAYOUT


def collect(sentences: Sentences) -> LabelledFile:
    """All sentences."""
    return LabelledFile(*sentences.collect(), clean_name(sentences.name), sentences.layout)


def clean_name(path: str) -> str:
    """The name of a file without its folder, as a model file can hold it: UTF-8."""
    return os.path.basename(path).encode("utf-8", "replace").decode("utf-8")


def is_share(dev: str) -> bool:
    """Whether --dev gives a share of the training sentences, such as 20%."""
    return dev.endswith("%")


def hold_out(corpus: LabelledFile, share: str) -> tuple[LabelledFile, LabelledFile]:
    """Split off a share of the sentences, spread evenly: the rest, and the share."""
    try:
        part = float(share.removesuffix("%")) / 100
    except ValueError:
        part = 0.0
    if not 0 < part < 1:
        raise ParameterError(f"--dev: found {share!r}, expected a file or a share between 0% and 100%")
    n = len(corpus.X)
    held = [i for i in range(n) if int((i + 1) * part + 1e-9) > int(i * part + 1e-9)]
    if not 0 < len(held) < n:
        raise DataError(f"{share} of {n} sentences leaves one side empty; give a file for --dev", location=corpus.name)
    return corpus.take(sorted({*range(n)} - {*held})), corpus.take(held)
