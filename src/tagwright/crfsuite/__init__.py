"""CRFsuite's model files, read and written without CRFsuite; and its models as our own.

    from tagwright.crfsuite import read_model, to_crf
    model = read_model("old.crfsuite"); model.labels, model.attributes     # CrfsuiteModel: all that the file says
    to_crf(model).save("new.tw")                                           # a CRF on attribute dicts

Read binary.py first: it has the format, quarks.py the sections of names in it, lookup3.py their hash. conversion.py
leads to our CRF and back, dump.py to text, pickled.py from sklearn-crfsuite's pickles. `tagwright convert` uses all.

What needs a learner is imported when it is first used: a Tagger of tagwright.pycrfsuite needs none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tagwright.crfsuite.binary import CrfsuiteModel, pack_model, read_model, unpack_model, write_model
from tagwright.crfsuite.dump import dump_text
from tagwright.crfsuite.pickled import find_model

if TYPE_CHECKING:
    from tagwright.crfsuite.conversion import from_crf, to_crf

__all__ = [
    "CrfsuiteModel",
    "dump_text",
    "find_model",
    "from_crf",
    "pack_model",
    "read_model",
    "to_crf",
    "unpack_model",
    "write_model",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'tagwright.crfsuite' has no attribute {name!r}")
    return getattr(import_module("tagwright.crfsuite.conversion"), name)
