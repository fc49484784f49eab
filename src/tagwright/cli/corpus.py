"""Labelled sentences for `train` and `evaluate`: a source read whole, without the lines it was written in.

The word `sample` stands for the embedded corpus wherever a file is taken (./sample is a file of that name).
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tagwright.errors import DataError, ParameterError
from tagwright.io import Layout, Sentences, read_like, read_sentences
from tagwright.sequence import Labelled

SAMPLE, SAMPLE_COLUMN = "sample", "pos"


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


class FileOptions(NamedTuple):
    """What the command line says of how a file is read."""

    format: str = "auto"
    column: str = "auto"
    inputs: list[str] | None = None

    @classmethod
    def of(cls, arguments: Namespace) -> FileOptions:
        return cls(arguments.format, "auto" if arguments.column is None else arguments.column, arguments.inputs)


AUTO = FileOptions()


def open_training(name: str, options: FileOptions) -> Sentences:
    """The sentences of a training file; the first lines are read to find its layout."""
    format, column, inputs = options
    label = SAMPLE_COLUMN if name == SAMPLE and column == "auto" else column
    return read_sentences(find_source(name), format=format, label=label, inputs=inputs)


def open_like(name: str, trained: Layout, options: FileOptions = AUTO) -> Sentences:
    """The sentences of a labelled file, read as the training file was."""
    format, label, inputs = options
    if trained.label is None and label == "auto":  # a model that was trained in Python
        return read_sentences(find_source(name), format=format, inputs=inputs, n_inputs=trained.n_inputs)
    return read_like(find_source(name), trained, format=format, labelled=True, label=label, inputs=inputs)


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
    held = list(_spread(len(corpus.X), part))
    if not 0 < len(held) < len(corpus.X):
        raise DataError(
            f"{share} of {len(corpus.X)} sentences leaves one side empty; give a file for --dev", location=corpus.name
        )
    return corpus.take(sorted({*range(len(corpus.X))} - {*held})), corpus.take(held)


def _spread(n: int, part: float) -> Iterator[int]:
    """About n · part numbers below n, evenly apart."""
    return (i for i in range(n) if int((i + 1) * part + 1e-9) > int(i * part + 1e-9))
