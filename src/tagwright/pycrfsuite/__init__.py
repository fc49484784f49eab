"""Stands in for python-crfsuite's module `pycrfsuite`, on our own engine: the same names, and the same model files.

    from tagwright import pycrfsuite
    with pycrfsuite.Tagger().open("model.crfsuite") as tagger:
        tagger.tag([["w=Paris", "cap"], ["w=is"]])

`install()` puts it in that module's place, for programs that import `pycrfsuite` themselves.

Read items.py first: what a sentence is. Then tagger.py; tagging.py and attribute_weights.py are why it is quick.
"""

from tagwright.pycrfsuite._pycrfsuite import (
    CRFSUITE_VERSION,
    BaseTrainer,
    CRFSuiteError,
    ItemSequence,
    Tagger,
    Trainer,
)
from tagwright.pycrfsuite.install import install

__all__ = ["CRFSUITE_VERSION", "BaseTrainer", "CRFSuiteError", "ItemSequence", "Tagger", "Trainer", "install"]
