"""CRFsuite's model files, read and written without CRFsuite; and its models as our own.

    from tagwright.crfsuite import read_model, to_crf
    model = read_model("old.crfsuite"); model.labels, model.attributes     # CrfsuiteModel: all that the file says
    to_crf(model).save("new.tw")                                           # a CRF on attribute dicts

Read binary.py first: it has the format, quarks.py the sections of names in it, lookup3.py their hash. conversion.py
leads to our CRF and back, dump.py to text, pickled.py from sklearn-crfsuite's pickles. `tagwright convert` uses all.
"""

from tagwright.crfsuite.binary import CrfsuiteModel, pack_model, read_model, unpack_model, write_model
from tagwright.crfsuite.conversion import from_crf, to_crf
from tagwright.crfsuite.dump import dump_text
from tagwright.crfsuite.pickled import find_model

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
