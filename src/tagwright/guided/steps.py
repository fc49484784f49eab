"""The steps of a guided tagger, for people: which token was labelled when, between which labels, how surely.

`explain` gives them, `format_steps` is a table of them, `draw_steps` a picture (SVG) in which every token hangs the
deeper the later it was labelled, with lines from the labels that it could see.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tagwright.learners._explanation import Explanation


def format_steps(steps: Sequence[Explanation]) -> str:
    """A line for each step: the token, its label between those it saw, its score, and the runner-up."""
    rows = [("step", "token", "label", "between", "score", "runner-up", "behind by")]
    for number, step in enumerate(steps, start=1):
        left = [step.known.get(offset, "") for offset in (-2, -1)]
        right = [step.known.get(offset, "") for offset in (1, 2)]
        between = " ".join([*filter(None, left), "_", *filter(None, right)])
        rows.append(
            (str(number), step.token, step.label, between, f"{step.score:.2f}", step.runner_up, f"{step.margin:.2f}")
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        [" ".join([f"{text:<{width}}" for text, width in zip(row, widths, strict=True)]).rstrip() for row in rows]
    )


WIDE, DEEP, EDGE = 90, 34, 40
"""Pixels of a token, of a step, and around the picture."""


def draw_steps(steps: Sequence[Explanation]) -> str:
    """An SVG of one sentence."""
    n = len(steps)
    depth = {step.position: number for number, step in enumerate(steps)}
    width, height = n * WIDE + EDGE, (n + 2) * DEEP + EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13" text-anchor="middle">'
    ]
    for number, step in enumerate(steps):
        x, y = _position_of(step.position, number)
        for offset in step.known:
            seen_x, seen_y = _position_of(step.position + offset, depth[step.position + offset])
            dash = ' stroke-dasharray="3 3"' if abs(offset) > 1 else ""
            parts.append(f'<line x1="{seen_x}" y1="{seen_y}" x2="{x}" y2="{y}" stroke="#9ab"{dash}/>')
    for number, step in enumerate(steps):
        x, y = _position_of(step.position, number)
        about = f"step {number + 1}: {step.label} {step.score:.2f}, then {step.runner_up} {step.runner_up_score:.2f}"
        parts += [
            f'<text x="{x}" y="{EDGE // 2 + 4}">{escape(step.token)}</text>',
            f'<rect x="{x - 30}" y="{y - 12}" width="60" height="24" rx="6" fill="#eef3f8" stroke="#567">'
            f"<title>{escape(about)}</title></rect>",
            f'<text x="{x}" y="{y + 5}">{escape(step.label)}</text>',
            f'<text x="{x + 38}" y="{y - 6}" font-size="10" fill="#777">{number + 1}</text>',
        ]
    return "\n".join([*parts, "</svg>"])


def _position_of(position: int, depth: int) -> tuple[int, int]:
    return EDGE // 2 + WIDE // 2 + position * WIDE, EDGE + (depth + 1) * DEEP


def steps_page(sentences: Sequence[Sequence[Explanation]]) -> str:
    """A page of its own with a picture of every sentence."""
    head = ["<!DOCTYPE html>", '<meta charset="utf-8">', "<title>The order of labelling</title>"]
    return "\n".join([*head, *(draw_steps(steps) for steps in sentences), ""])
