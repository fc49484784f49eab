"""The learners, one file each, and `load` for what they saved.

The one list of them is here. Nothing is imported before it is first used: `--help` needs the names alone, and a program
that tags needs the one learner that its model names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagwright.learners._base import SequenceTagger
    from tagwright.learners.crf import CRF
    from tagwright.learners.hmm import HMM
    from tagwright.learners.memm import MEMM
    from tagwright.learners.structured_perceptron import StructuredPerceptron

_LEARNERS = {
    "crf": ("CRF", "tagwright.learners.crf"),
    "guided": ("GuidedTagger", "tagwright.guided.tagger"),
    "hmm": ("HMM", "tagwright.learners.hmm"),
    "hmsvm": ("HMSVM", "tagwright.hmsvm.learner"),
    "kernel-perceptron": ("KernelPerceptron", "tagwright.kernels.perceptron"),
    "memm": ("MEMM", "tagwright.learners.memm"),
    "perceptron": ("StructuredPerceptron", "tagwright.learners.structured_perceptron"),
    "adaboost": ("SequenceAdaBoost", "tagwright.boosting.sequence_adaboost"),
}
_CLASSES = {"SequenceTagger": "tagwright.learners._base", **dict(_LEARNERS.values())}


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module 'tagwright.learners' has no attribute {name!r}")
    return getattr(import_module(_CLASSES[name]), name)


class _Learners(Mapping[str, "type[SequenceTagger]"]):
    """The learners by their names in model files and on the command line."""

    def __getitem__(self, name: str) -> type[SequenceTagger]:
        learner: type[SequenceTagger] = __getattr__(_LEARNERS[name][0])
        return learner

    def __contains__(self, name: object) -> bool:
        return name in _LEARNERS

    def __iter__(self) -> Iterator[str]:
        return iter(_LEARNERS)

    def __len__(self) -> int:
        return len(_LEARNERS)


LEARNERS: Mapping[str, type[SequenceTagger]] = _Learners()


def load(path: str | os.PathLike[str]) -> SequenceTagger:
    """The model that `save` wrote to `path`. Nothing in the file is executed."""
    from tagwright.learners._stored import restore

    model: SequenceTagger = restore(Path(path), LEARNERS)
    return model


__all__ = [
    "CRF", "HMM", "HMSVM", "LEARNERS", "MEMM", "GuidedTagger", "KernelPerceptron", "SequenceAdaBoost",
    "SequenceTagger", "StructuredPerceptron", "load",
]  # fmt: skip
