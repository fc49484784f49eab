"""Why a mistake was made: what speaks for the wrong label, what for the right one, folded below its sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagwright.cli.page.document import table, text, token
from tagwright.cli.page.mistakes import Mistake
from tagwright.learners import SequenceTagger
from tagwright.learners._explanation import Reason
from tagwright.sequence import Item

SHOWN_REASONS = 10

STYLE = """
.why { border: 0; padding: 0; margin: .25rem 0 0; font-size: .9rem } .why summary { color: var(--soft) }
.why tbody th { font-weight: 400; overflow-wrap: anywhere; min-width: 8rem }
.why tbody tr:last-child > * { font-weight: 600 }
"""


def why(model: SequenceTagger, sentence: Sequence[Item], mistake: Mistake) -> str:
    """The weights of both labels. A label that the model does not know has none."""
    if mistake.gold not in model.labels_:
        return '<p class="soft">The model does not know the gold label.</p>'
    against = [mistake.gold if t == mistake.position else None for t in range(len(sentence))]
    one = next(one for one in model.explain(sentence, against) if one.position == mistake.position)
    if (one.label, one.runner_up) != (mistake.predicted, mistake.gold):
        return ""  # labels that were given otherwise than one sentence at a time
    ordered = sorted([r for r in one.reasons if r.weight or r.runner_up_weight], key=lambda r: -_size(r))
    shown, rest = ordered[:SHOWN_REASONS], ordered[SHOWN_REASONS:]
    rows = [[token(r.name), *map(_number, (r.weight, r.runner_up_weight, r.difference))] for r in shown]
    if rest:
        sums = [sum(column) for column in zip(*((r.weight, r.runner_up_weight) for r in rest), strict=True)]
        rows.append([f"{len(rest)} more", *map(_number, (*sums, sums[0] - sums[1]))])
    rows.append(["total", *map(_number, (one.score, one.runner_up_score, one.margin))])
    new = f'<p class="soft">Not met in training: {", ".join(map(token, one.new))}.</p>' if one.new else ""
    heads = ["attribute or transition", one.label, one.runner_up, "difference"]
    body = table(f"What speaks for {one.label}, and what for {one.runner_up}", heads, rows, sortable=False)
    summary = f"why {text(one.label)}, not {text(one.runner_up)}"
    return f'<details class="why"><summary>{summary}</summary>\n{body}\n{new}</details>'


def _size(reason: Reason) -> float:
    return abs(reason.difference) if np.isfinite(reason.difference) else np.inf


def _number(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "ruled out"
