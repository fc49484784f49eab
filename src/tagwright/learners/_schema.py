"""What a model file may hold: the form of every entry of its header and of every array, checked before anything else
looks at them.

Whether entries fit together is checked by who restores them, parameters by the learner (`check_params`), templates by
their parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tagwright.errors import ModelFileError
from tagwright.io.formats import FORMATS
from tagwright.io.layout import Layout
from tagwright.model_file import StoredModel

MOST_COLUMNS = 10_000


class Field(NamedTuple):
    """An entry of a JSON object."""

    fits: Callable[[Any], bool]
    needed: bool = True


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not is_flag(value) and value >= 0


def is_number(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and not is_flag(value) and abs(value) < 2**63)


def optional(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """That, or nothing."""
    return lambda value: value is None or fits(value)


def object_of(fields: Mapping[str, Field], *, others: bool = False) -> Callable[[Any], bool]:
    """An object with these entries; `others`: and whatever else."""

    def fits(value: Any) -> bool:
        return not misfits(value, fields, others=others)

    return fits


def misfits(value: Any, fields: Mapping[str, Field], *, others: bool = False) -> list[str]:
    """The entries of an object that are missing, of another form, or unknown."""
    if not isinstance(value, dict):
        return ["all"]
    wrong = [name for name, field in fields.items() if name in value and not field.fits(value[name])]
    missing = [name for name, field in fields.items() if field.needed and name not in value]
    unknown = [] if others else [name for name in value if name not in fields]
    return wrong + missing + unknown


def is_layout(value: Any) -> bool:
    try:
        Layout.from_json(value, FORMATS)
    except ModelFileError:
        return False
    return True


CONVERTED = object_of({"converted": Field(is_text), "file": Field(is_text)}, others=True)
TRAINED = object_of(
    {
        "tagwright": Field(is_text),
        "file": Field(is_text),
        "sentences": Field(is_count),
        "tokens": Field(is_count),
        "layout": Field(is_layout),
        "interrupted": Field(is_flag, needed=False),
    },
    others=True,
)


def is_info(value: Any) -> bool:
    """What the command line adds (cli/train.py, cli/convert.py); nothing where there was none."""
    return value == {} or CONVERTED(value) or TRAINED(value)


HEADER = {
    "learner": Field(is_text),
    "params": Field(lambda value: isinstance(value, dict)),
    "features": Field(optional(object_of({"name": Field(is_text), "text": Field(is_text)}))),
    "width": Field(lambda value: is_count(value) and value <= MOST_COLUMNS),
    "facts": Field(
        object_of(
            {
                "n_iter_": Field(is_count, needed=False),
                "objective_": Field(optional(is_number), needed=False),
                "converged_": Field(is_flag, needed=False),
            }
        )
    ),
    "span_calibration": Field(
        optional(object_of({"slope": Field(is_number), "intercept": Field(is_number)})), needed=False
    ),
    "info": Field(is_info),
}


def not_inf(numbers: Any) -> Any:
    """Finite, or −inf: what is forbidden."""
    return numbers < np.inf


def finite_or_nan(numbers: Any) -> Any:
    """NaN: of a label that was never given."""
    return ~np.isinf(numbers)


class Form(NamedTuple):
    """Of an array."""

    kinds: str  # NumPy's letters
    n_axes: int = 1
    may_be: Callable[[Any], Any] = np.isfinite  # which numbers may stand there


WHOLE, REAL = Form("iu"), Form("f")
ARRAYS = {
    "column#.codes": Form("i", 2),
    "conjunction#.keys": WHOLE,
    "clusters.of": WHOLE,
    **dict.fromkeys(("pattern.counts", "pattern.labels"), WHOLE),
    "weights": REAL,
    "chain.transition": Form("f", 2, not_inf),
    **dict.fromkeys(("chain.start", "chain.stop"), Form("f", 1, not_inf)),
    "trigrams.keys": WHOLE,
    "trigrams.weights": REAL,
    **dict.fromkeys(("dictionary.sets_of", "dictionary.sizes", "dictionary.labels"), WHOLE),
    **dict.fromkeys(("words.sizes", "words.labels", "words.counts"), WHOLE),  # HMM
    **dict.fromkeys(("support.sizes", "support.attributes", "support.counts", "support.labels"), WHOLE),  # kernels
    **dict.fromkeys(("support.values", "support.coefficients", "support.kernel"), REAL),
    **dict.fromkeys(("support.sentences", "support.lengths", "support.sequences"), WHOLE),  # HM-SVM
    "support.labellings": WHOLE,
    "support.alpha": REAL,
    **dict.fromkeys(("chosen.features", "chosen.times", "chosen.rounds"), WHOLE),  # boosting
    **dict.fromkeys(("contexts.places", "contexts.keys", "contexts.labels", "contexts.part#"), WHOLE),  # guided
    **dict.fromkeys(("contexts.rows", "contexts.values", "confidence"), REAL),
    "label_order": Form("f", 1, finite_or_nan),
}
"""By name, # for a number."""


def check_stored(stored: StoredModel) -> None:
    """Refuse a header in which something is missing or of another form, and arrays of another form or name."""
    if wrong := misfits(stored.header, HEADER):
        raise ModelFileError(f"its header does not say what it should: {', '.join(map(repr, wrong[:5]))}")
    for name, array in stored.arrays.items():
        form = ARRAYS.get(re.sub(r"[0-9]+", "#", name))
        if form is None:
            raise ModelFileError(f"unknown array {name!r}")
        if array.dtype.kind not in form.kinds or array.ndim != form.n_axes:
            raise ModelFileError(f"the array {name!r} is {array.dtype} with {array.ndim} axes")
        if not form.may_be(array).all():
            raise ModelFileError(f"the array {name!r} has numbers that are not finite")
