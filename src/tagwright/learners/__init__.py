"""The learners, one file each, and `load` for what they saved."""

from __future__ import annotations

import os
from pathlib import Path

from tagwright.learners._base import SequenceTagger
from tagwright.learners._stored import restore
from tagwright.learners.crf import CRF
from tagwright.learners.guided_tagger import GuidedTagger
from tagwright.learners.hmm import HMM
from tagwright.learners.hmsvm import HMSVM
from tagwright.learners.kernel_perceptron import KernelPerceptron
from tagwright.learners.memm import MEMM
from tagwright.learners.sequence_adaboost import SequenceAdaBoost
from tagwright.learners.structured_perceptron import StructuredPerceptron

LEARNERS: dict[str, type[SequenceTagger]] = {
    learner.learner: learner
    for learner in (CRF, GuidedTagger, HMM, HMSVM, KernelPerceptron, MEMM, StructuredPerceptron, SequenceAdaBoost)
}


def load(path: str | os.PathLike[str]) -> SequenceTagger:
    """The model that `save` wrote to `path`. Nothing in the file is executed."""
    model: SequenceTagger = restore(Path(path), LEARNERS)
    return model


__all__ = [
    "CRF", "HMM", "HMSVM", "LEARNERS", "MEMM", "GuidedTagger", "KernelPerceptron", "SequenceAdaBoost",
    "SequenceTagger", "StructuredPerceptron", "load",
]  # fmt: skip
