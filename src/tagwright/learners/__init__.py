"""The learners, one file each, and `load` for what they saved.

The one list of them is here. Nothing is imported before it is first used: `--help` needs the names alone, and a program
that tags needs the one learner that its model names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagwright.learners._base import SequenceTagger
    from tagwright.learners.crf import CRF
    from tagwright.learners.hmm import HMM
    from tagwright.learners.memm import MEMM
    from tagwright.learners.structured_perceptron import StructuredPerceptron

_PLACES = {
    "crf": "tagwright.learners.crf:CRF",
    "guided": "tagwright.guided.tagger:GuidedTagger",
    "hmm": "tagwright.learners.hmm:HMM",
    "hmsvm": "tagwright.hmsvm.learner:HMSVM",
    "kernel-perceptron": "tagwright.kernels.perceptron:KernelPerceptron",
    "memm": "tagwright.learners.memm:MEMM",
    "perceptron": "tagwright.learners.structured_perceptron:StructuredPerceptron",
    "adaboost": "tagwright.boosting.sequence_adaboost:SequenceAdaBoost",
}
_CLASSES = {place.partition(":")[2]: place for place in (*_PLACES.values(), "tagwright.learners._base:SequenceTagger")}


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module 'tagwright.learners' has no attribute {name!r}")
    return resolve_name(_CLASSES[name])


class _Learners(Mapping[str, "type[SequenceTagger]"]):
    """The learners by their names in model files and on the command line."""

    def __getitem__(self, name: str) -> type[SequenceTagger]:
        learner: type[SequenceTagger] = resolve_name(_PLACES[name])
        return learner

    def __contains__(self, name: object) -> bool:
        return name in _PLACES

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


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
