"""A model as Python has it: ParsedDump, which Tagger.info() gives; and a parser that makes one of a dump's lines.

    bytes of a model ─► describe_model ─► ParsedDump ◄─ CRFsuiteDumpParser ◄─ lines of Tagger.dump()

Python-crfsuite's names and kinds: numbers of labels and attributes are strings, weights have six decimals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tagwright.crfsuite.binary import unpack_parts
from tagwright.crfsuite.dump import header_fields
from tagwright.crfsuite.quarks import split_names
from tagwright.scores.pattern import LabelWeights

DECIMALS = 6
OPENING = re.compile(r"(FILEHEADER|LABELS|ATTRIBUTES|TRANSITIONS|STATE_FEATURES) = \{")
FIELD = re.compile(r"(\w+): (.*)")
WEIGHT = re.compile(r"\(\d+\) (.+) --> (.+): ([+-]?\d+\.\d+)")


class ParsedDump:
    """All that a model says.

    header: {field: value} of the file, as text
    labels, attributes: {name: number as text}
    transitions: {(label, next label): weight}
    state_features: {(attribute, label): weight}
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}


def describe_model(data: bytes) -> ParsedDump:
    """Of the bytes of a model."""
    parts, found = unpack_parts(data), ParsedDump()
    attributes = split_names(parts.attributes)
    found.header = header_fields(data)
    found.labels = {name: str(k) for k, name in enumerate(parts.labels)}
    found.attributes = {name: str(k) for k, name in enumerate(attributes)}
    found.transitions = list_weights(parts.labels, parts.transitions, parts.labels)
    found.state_features = list_weights(attributes, parts.states, parts.labels)
    return found


def list_weights(owners: Sequence[str], weights: LabelWeights, labels: Sequence[str]) -> dict[tuple[str, str], float]:
    """All of them, by name."""
    sources = np.repeat(np.arange(len(owners)), np.diff(weights.pointers)).tolist()
    triples = zip(sources, weights.labels.tolist(), weights.values.tolist(), strict=True)
    return {(owners[source], labels[y]): round(weight, DECIMALS) for source, y, weight in triples}


class CRFsuiteDumpParser:
    """Takes the lines of a dump one after the other; `result` is what they say."""

    def __init__(self) -> None:
        self.state: str | None = None
        self.result = ParsedDump()

    def feed(self, line: str) -> None:
        """One line. Blanks before it and its end do not count."""
        line = line.lstrip().rstrip("\r\n")
        if not line:
            return
        opening = OPENING.match(line)
        if opening:
            self.state = opening[1]
        elif line == "}":
            self.state = None
        elif self.state is None:
            raise ValueError(f"found {line!r} outside of a section; give the lines of a dump in their order")
        else:
            self._take(self.state, line)

    def _take(self, section: str, line: str) -> None:
        pattern = WEIGHT if section in ("TRANSITIONS", "STATE_FEATURES") else FIELD
        found = pattern.match(line)
        if found is None:
            raise ValueError(f"found {line!r} in the section {section}; is it a dump of a model?")
        if section == "FILEHEADER":
            self.result.header[found[1]] = found[2]
        elif section == "LABELS":
            self.result.labels[found[2]] = found[1]
        elif section == "ATTRIBUTES":
            self.result.attributes[found[2]] = found[1]
        elif section == "TRANSITIONS":
            self.result.transitions[found[1], found[2]] = float(found[3])
        else:
            self.result.state_features[found[1], found[2]] = float(found[3])
