"""Attributes: what a token says about itself and its neighbours.

The second step of the flow: sentences come from io/, feature sets built here go to encode/. In language.py a cell names
a spelling function (text/spelling.py) at a column and an offset, and template text is read and written; templates.py
has the feature set, presets.py the ready-made ones as text.
"""

from __future__ import annotations

from tagwright.attributes.presets import PRESETS
from tagwright.attributes.templates import EDGES, Cell, FeatureSet, Term, attribute_name, join_values, resolve
from tagwright.text.spelling import FUNCTIONS

__all__ = [
    "EDGES", "FUNCTIONS", "PRESETS", "Cell", "FeatureSet", "Term", "attribute_name", "join_values", "resolve",
]  # fmt: skip
