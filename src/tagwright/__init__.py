"""Tagwright: sequence taggers that train in seconds and explain themselves.

    from tagwright import CRF, load
    model = CRF(features="pos").fit(X, y)          # X: a list of sentences, y: a list of label lists
    model.predict(X); model.save("pos.tw"); load("pos.tw")

Names are imported when they are first used, so that `import tagwright` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tagwright import datasets
    from tagwright.attributes.clusters import WordClusters
    from tagwright.attributes.templates import FeatureSet
    from tagwright.boosting.sequence_adaboost import SequenceAdaBoost
    from tagwright.guided.tagger import GuidedTagger
    from tagwright.hmsvm.learner import HMSVM
    from tagwright.kernels.perceptron import KernelPerceptron
    from tagwright.learners import CRF, HMM, MEMM, StructuredPerceptron, load
    from tagwright.tagger import Tagger

__all__ = [
    "CRF", "HMM", "HMSVM", "MEMM", "FeatureSet", "GuidedTagger", "KernelPerceptron", "SequenceAdaBoost",
    "StructuredPerceptron", "Tagger", "WordClusters", "__version__", "datasets", "load",
]  # fmt: skip

_ELSEWHERE = {
    "FeatureSet": "tagwright.attributes.templates",
    "WordClusters": "tagwright.attributes.clusters",
    "Tagger": "tagwright.tagger",
}


def __getattr__(name: str) -> object:
    if name == "datasets":
        return import_module("tagwright.datasets")
    if name not in __all__:
        raise AttributeError(f"module 'tagwright' has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE.get(name, "tagwright.learners")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
