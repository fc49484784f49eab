"""Wapiti's text models, read without Wapiti, as our own.

    from tagwright.wapiti import read_model, to_crf
    to_crf(read_model("old.wapiti")).save("new.tw")

text_model.py has the format; conversion.py makes a CRF of a model, by way of its patterns (attributes/macros.py).
"""

from tagwright.wapiti.conversion import to_crf
from tagwright.wapiti.text_model import WapitiModel, parse_model, read_model

__all__ = ["WapitiModel", "parse_model", "read_model", "to_crf"]
