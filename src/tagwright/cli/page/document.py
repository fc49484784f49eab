"""The parts that all pages are made of: the frame with its style, tables, text made safe.

A page is one file: no fonts, no pictures, no scripts from elsewhere, and a policy that forbids browsers to load any, or
to run a script other than SORTING, which sorts tables. Without scripts the page is whole, but for that.
Everything that comes from data goes through `text` or `token`. Tables have captions and headings for screen readers;
what is wider than a phone scrolls in a box of its own, which the keyboard can reach.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What HTML does not allow."""

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #5b636d; --line: #d5dae0; --wash: #f4f6f8;
  --good: 0 114 178; --bad: 213 94 0; --link: #005a9c; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ed; --soft: #a4adb8; --line: #353c45;
  --wash: #1d232a; --good: 86 180 233; --bad: 240 130 50; --link: #7cc4f5; } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1rem; max-width: 68rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif }
a { color: var(--link) } h1 { margin: 0; font-size: 1.6rem } h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem }
h3 { margin: 1.5rem 0 .25rem; font-size: 1rem } p { margin: .5rem 0; max-width: 45rem } .soft { color: var(--soft) }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .75rem 0; padding: 0; list-style: none }
.scroll { overflow-x: auto; max-width: 100%; margin-bottom: .75rem }
:focus-visible { outline: 3px solid rgb(var(--good)); outline-offset: 2px }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem }
th, td { padding: .2rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom } tbody th { font-weight: 600 }
.number { text-align: right }
.bar { background: linear-gradient(90deg, rgb(var(--good) / .25) calc(var(--part) * 100%), transparent 0) }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip:not(:focus) { position: absolute; left: -100vw }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: .4rem .8rem }
summary { cursor: pointer } summary strong { font-weight: 600 }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer }
th button::after { content: "\\2195"; color: var(--soft); padding-left: .3em }
th[aria-sort=ascending] button::after { content: "\\2191" } th[aria-sort=descending] button::after { content: "\\2193" }
"""

SORTING = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const number = text => parseFloat(text.replace(/[,\u00a0%]/g, ""));
  const compare = (a, b) => isNaN(number(a)) || isNaN(number(b)) ? a.localeCompare(b) : number(a) - number(b);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const names = !head.classList.contains("number"), was = head.ariaSort;
      const ascending = was ? was === "descending" : names;
      const text = row => row.cells[column].textContent.trim();
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => (ascending ? 1 : -1) * compare(text(a), text(b)));
      body.append(...rows);
    });
  });
}
"""
"""A click on a heading sorts by that column: numbers from the largest, names from A, and the other way round."""
LONG = 30
"""Rows of a table that are shown without being asked for."""


def text(value: object) -> str:
    """Anything as text that is safe between tags and in attributes."""
    return escape(CONTROL.sub("\ufffd", str(value)))


def token(value: object) -> str:
    """A word or a label, kept apart from its neighbours whatever the direction of its script."""
    return f"<bdi>{text(value)}</bdi>"


def document(title: str, body: Sequence[str], *, style: str = "") -> str:
    """A whole page. `title` is plain text, `body` HTML."""
    script = b64encode(sha256(SORTING.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        f"<title>{text(title)}</title>",
        f"<style>{STYLE}{style}</style>",
        "</head>",
        "<body>",
        *body,
        f"<script>{SORTING}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join([*parts, ""])


def section(name: str, title: str, body: Sequence[str]) -> str:
    """A part with a heading that links can lead to; `name` is its id."""
    begin = f'<section id="{name}" aria-labelledby="{name}-title">'
    return "\n".join([begin, f'<h2 id="{name}-title">{text(title)}</h2>', *body, "</section>"])


def scrolled(label: str, body: str) -> str:
    """What may be wider than the screen."""
    return f'<div class="scroll" role="region" aria-label="{text(label)}" tabindex="0">\n{body}\n</div>'


def folded(summary: str, body: str) -> str:
    """What is shown when somebody asks for it."""
    return f"<details>\n<summary>{text(summary)}</summary>\n{body}\n</details>"


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1, sortable: bool = True
) -> str:
    """A table. `heads` are plain text, cells are HTML; the first `names` columns are names, the others numbers."""
    kinds = ["" if i < names else ' class="number"' for i in range(len(heads))]
    cells = [f'<th scope="col"{kind}>{text(head)}</th>' for kind, head in zip(kinds, heads, strict=True)]
    begin = '<table class="sortable">' if sortable else "<table>"
    lines = [begin, f"<caption>{text(caption)}</caption>", f"<thead><tr>{''.join(cells)}</tr></thead>", "<tbody>"]
    for row in rows:
        first = f'<th scope="row">{row[0]}</th>'
        others = [f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds[1:], row[1:], strict=True)]
        lines.append(f"<tr>{first}{''.join(others)}</tr>")
    return scrolled(caption, "\n".join([*lines, "</tbody>", "</table>"]))
