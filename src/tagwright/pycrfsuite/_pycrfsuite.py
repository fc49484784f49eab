"""The names of python-crfsuite's compiled module, for programs that import from it."""

from tagwright.pycrfsuite import _dumpparser as _dumpparser
from tagwright.pycrfsuite import _logparser as _logparser
from tagwright.pycrfsuite.errors import CRFSuiteError
from tagwright.pycrfsuite.items import ItemSequence
from tagwright.pycrfsuite.tagger import Tagger
from tagwright.pycrfsuite.trainer import BaseTrainer, Trainer

CRFSUITE_VERSION = "0.12.2"
"""The CRFsuite whose files and parameters these are."""

__all__ = ["CRFSUITE_VERSION", "BaseTrainer", "CRFSuiteError", "ItemSequence", "Tagger", "Trainer"]
