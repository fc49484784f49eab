"""The confusion matrix as a table with shades: rows gold, columns predicted.

Numbers stay text, so the map can be read aloud and searched. The diagonal has the colour of what is right, shaded by
recall; errors have another, shaded by the root of their number, or the many small ones would be invisible. Where labels
are many, those with the most errors are shown and the others are one row and one column.
"""

from __future__ import annotations

import numpy as np

from tagwright.arrays import Longs
from tagwright.cli.page.document import scrolled, text, token
from tagwright.metrics import Confusion

MOST_LABELS = 24
OTHERS = "others"
DARKEST = 0.5  # text must stay readable on it

STYLE = """
.map { font-size: .8rem } .map th, .map td { padding: .1rem .3rem; text-align: right; border: 1px solid var(--line) }
.map thead th { writing-mode: vertical-rl; text-align: left; vertical-align: bottom; padding: .3rem .1rem }
.map .corner { writing-mode: horizontal-tb } .map tbody th { white-space: nowrap; position: sticky; left: 0;
  background: var(--paper) }
.map .right { background: rgb(var(--good) / var(--shade)) } .map .wrong { background: rgb(var(--bad) / var(--shade)) }
"""


def heat_map(confusion: Confusion) -> str:
    """The map, and a note where labels were put together."""
    names, matrix, rest = gather(confusion)
    shown = [token(name) for name in names] + ([f"<i>{OTHERS}</i>"] if rest else [])
    heads = "".join([f'<th scope="col">{name}</th>' for name in shown])
    lines = [
        '<table class="map">',
        "<caption>Tokens per gold label (rows) and predicted label (columns)</caption>",
        f'<thead><tr><th class="corner" scope="col">gold</th>{heads}</tr></thead>',
        "<tbody>",
    ]
    worst = max(1, int((matrix - np.diag(np.diag(matrix))).max(initial=0)))
    for i, name in enumerate(shown):
        cells = "".join([_cell(matrix, i, j, worst) for j in range(len(shown))])
        lines.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    lines += ["</tbody>", "</table>"]
    page = scrolled("confusion matrix", "\n".join(lines))
    if not rest:
        return page
    note = f"Shown are the {len(names)} labels with the most errors; {rest} more are together under {OTHERS}."
    return f'{page}\n<p class="soft">{text(note)}</p>'


def _cell(matrix: Longs, i: int, j: int, worst: int) -> str:
    count = int(matrix[i, j])
    if not count:
        return "<td></td>"
    share = count / int(matrix[i].sum()) if i == j else (count / worst) ** 0.5
    return f'<td class="{"right" if i == j else "wrong"}" style="--shade: {DARKEST * share:.2f}">{count:,}</td>'


def gather(confusion: Confusion) -> tuple[list[str], Longs, int]:
    """The labels to show, most frequent first, their matrix, and how many labels its last row and column hold."""
    labels, matrix = confusion
    order = sorted(range(len(labels)), key=lambda i: (-int(matrix[i].sum()), labels[i]))
    if len(labels) > MOST_LABELS + 1:
        errors = matrix.sum(axis=0) + matrix.sum(axis=1) - 2 * np.diag(matrix)
        kept = set(np.argsort(-errors, kind="stable")[:MOST_LABELS].tolist())
        order = [i for i in order if i in kept]
    rest = len(labels) - len(order)
    group = np.full(len(labels), len(order))
    group[order] = np.arange(len(order))
    gathered = np.zeros((len(order) + (rest > 0),) * 2, np.int64)
    np.add.at(gathered, (group[:, None], group[None, :]), matrix)
    return [labels[i] for i in order], gathered, rest
