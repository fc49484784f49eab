"""The support sequences of an HM-SVM, for `tagwright inspect --support`: figure 2 of the HMSVM paper, as text or HTML.

The right labels stand under the tokens; of a support sequence only the labels that differ are shown, with its α.
"""

from __future__ import annotations

from typing import Any

from tagwright.cli.page.document import document, scrolled, text, token
from tagwright.errors import ParameterError
from tagwright.hmsvm.support import SupportSentence
from tagwright.learners import SequenceTagger

SAME = "-"


def find_support(model: SequenceTagger, number: int | None) -> list[SupportSentence]:
    """The sentences to show: number `number` of the training data (from 0), or all that have support sequences."""
    support = model.support_sentences()
    if support is None:
        raise ParameterError(f"--support: {model.learner} has no support sequences; train an hmsvm")
    if number is None:
        return support
    found = [one for one in support if one.sentence == number]
    if not found:
        raise ParameterError(f"--support: sentence {number} has no support sequences: it keeps its margin with room")
    return found


def support_json(support: list[SupportSentence]) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "sentences": [
            {
                "sentence": one.sentence,
                "tokens": one.tokens,
                "labels": one.labels,
                "support": [{"alpha": s.alpha, "labels": s.labels} for s in one.sequences],
            }
            for one in support
        ]
    }


def format_support(support: list[SupportSentence], top: int) -> str:
    """A block for each of the `top` sentences with the largest Σ α, and a summary."""
    return "\n\n".join([summarise(support), *map(format_sentence, heaviest(support, top))])


def summarise(support: list[SupportSentence]) -> str:
    sequences = sum(len(one.sequences) for one in support)
    return f"{sequences:,} support sequences of {len(support):,} sentences"


def heaviest(support: list[SupportSentence], top: int) -> list[SupportSentence]:
    return sorted(support, key=lambda one: -sum(s.alpha for s in one.sequences))[:top]


def title(one: SupportSentence) -> str:
    return f"sentence {one.sentence}: {len(one.sequences)} support sequences"


def table(one: SupportSentence) -> list[list[str]]:
    """Tokens, right labels, and the labels that differ."""
    rows = [["", *one.tokens], ["right", *one.labels]]
    for sequence in one.sequences:
        labels = [SAME if a == b else a for a, b in zip(sequence.labels, one.labels, strict=True)]
        rows.append([f"{sequence.alpha:.4f}", *labels])
    return rows


def format_sentence(one: SupportSentence) -> str:
    """The table of a sentence, in columns."""
    rows = table(one)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" ".join([f"{text:<{width}}" for text, width in zip(row, widths, strict=True)]).rstrip() for row in rows]
    return "\n".join([title(one), *lines])


def support_html(support: list[SupportSentence], top: int) -> str:
    """The same as a page of its own."""
    body = [f"<h1>{text(summarise(support))}</h1>"]
    for one in heaviest(support, top):
        head, *rows = table(one)
        cells = "".join([f'<th scope="col">{token(word)}</th>' for word in head])
        lines = ["<table>", f"<tr>{cells}</tr>"]
        for row in rows:
            lines.append(f"<tr>{''.join([f'<td>{token(label)}</td>' for label in row])}</tr>")
        body += [f"<h2>{text(title(one))}</h2>", scrolled(title(one), "\n".join([*lines, "</table>"]))]
    return document("Support sequences", body)
