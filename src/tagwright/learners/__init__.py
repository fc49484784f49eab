"""The learners, one file each, and `load` for what they saved.

A learner is imported when it is first used: a program that tags loads the one that its model names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tagwright.learners._base import SequenceTagger
from tagwright.learners._stored import restore

if TYPE_CHECKING:
    from tagwright.learners.crf import CRF
    from tagwright.learners.hmm import HMM
    from tagwright.learners.memm import MEMM
    from tagwright.learners.structured_perceptron import StructuredPerceptron

_FILES = {
    "CRF": "crf",
    "GuidedTagger": "tagwright.guided.tagger",
    "HMM": "hmm",
    "HMSVM": "tagwright.hmsvm.learner",
    "KernelPerceptron": "tagwright.kernels.perceptron",
    "MEMM": "memm",
    "SequenceAdaBoost": "tagwright.boosting.sequence_adaboost",
    "StructuredPerceptron": "structured_perceptron",
}

_CLASSES = {
    "crf": "CRF",
    "guided": "GuidedTagger",
    "hmm": "HMM",
    "hmsvm": "HMSVM",
    "kernel-perceptron": "KernelPerceptron",
    "memm": "MEMM",
    "perceptron": "StructuredPerceptron",
    "adaboost": "SequenceAdaBoost",
}


def __getattr__(name: str) -> type[SequenceTagger]:
    if name not in _FILES:
        raise AttributeError(f"module 'tagwright.learners' has no attribute {name!r}")
    module = _FILES[name] if "." in _FILES[name] else f"tagwright.learners.{_FILES[name]}"
    learner: type[SequenceTagger] = getattr(import_module(module), name)
    return learner


class _Learners(Mapping[str, type[SequenceTagger]]):
    """The learners by their names in model files and on the command line."""

    def __getitem__(self, name: str) -> type[SequenceTagger]:
        return __getattr__(_CLASSES[name])

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


LEARNERS: Mapping[str, type[SequenceTagger]] = _Learners()


def load(path: str | os.PathLike[str]) -> SequenceTagger:
    """The model that `save` wrote to `path`. Nothing in the file is executed."""
    model: SequenceTagger = restore(Path(path), LEARNERS)
    return model


__all__ = [
    "CRF", "HMM", "HMSVM", "LEARNERS", "MEMM", "GuidedTagger", "KernelPerceptron", "SequenceAdaBoost",
    "SequenceTagger", "StructuredPerceptron", "load",
]  # fmt: skip
