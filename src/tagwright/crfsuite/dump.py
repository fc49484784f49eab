"""A CRFsuite model as text, as `crfsuite dump` and python-crfsuite's `Tagger.dump` write it, to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tagwright.crfsuite.binary import MAGIC, STATE, TRANSITION, TYPE, CrfsuiteModel, read_header, unpack_parts
from tagwright.crfsuite.quarks import split_names
from tagwright.scores.pattern import LabelWeights


def dump_text(data: bytes, name: str = "bytes") -> str:
    """The text for the bytes of a model; errors call them by `name`."""
    parts = unpack_parts(data, name)
    model = CrfsuiteModel(parts.labels, split_names(parts.attributes), parts.transitions, parts.states)
    lines = ["FILEHEADER = {", *(f"  {field}: {value}" for field, value in header_fields(data).items())]
    return "\n".join([*lines, "}", "", *_dump_content(model), ""])


def header_fields(data: bytes) -> dict[str, str]:
    """The header as a dump has it."""
    numbers = read_header(np.frombuffer(data, np.uint8))._asdict()
    fields = {"magic": MAGIC.decode(), "size": str(numbers.pop("size")), "type": TYPE.decode()}
    return fields | {
        name: f"0x{number:X}" if name.startswith("off_") else str(number) for name, number in numbers.items()
    }


def _dump_content(model: CrfsuiteModel) -> Iterator[str]:
    for title, names in (("LABELS", model.labels), ("ATTRIBUTES", model.attributes)):
        yield from (f"{title} = {{", *(f"  {k:5}: {name}" for k, name in enumerate(names)), "}", "")
    pairs = _dump_weights(TRANSITION, model.labels, model.transitions, model.labels)
    states = _dump_weights(STATE, model.attributes, model.states, model.labels)
    yield from ("TRANSITIONS = {", *pairs, "}", "", "STATE_FEATURES = {", *states, "}", "")


def _dump_weights(kind: int, owners: Sequence[str], weights: LabelWeights, labels: Sequence[str]) -> Iterator[str]:
    sources = np.repeat(np.arange(len(owners)), np.diff(weights.pointers)).tolist()
    for source, label, weight in zip(sources, weights.labels.tolist(), weights.values.tolist(), strict=True):
        yield f"  ({kind}) {owners[source]} --> {labels[label]}: {weight:f}"
