"""The page of `tagwright evaluate --report`: all there is to see of a model on a corpus, in one file.

summary, labels, spans, confusions as a map, calibration, worst confusions in context, known and unknown words
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tagwright import __version__
from tagwright.cli.page import heat_map as map_
from tagwright.cli.page import reliability_curve as curve
from tagwright.cli.page.document import LONG, document, folded, section, table, text, token
from tagwright.cli.page.mistakes import (
    Mistake,
    WordGroup,
    choose_examples,
    find_mistakes,
    group_words,
    worst_confusions,
)
from tagwright.cli.page.why import STYLE as WHY_STYLE
from tagwright.cli.page.why import why
from tagwright.cli.report import Tagged, count
from tagwright.metrics import Counts

SHOWN_CONFUSIONS, SHOWN_EXAMPLES, SHOWN_WORDS = 12, 6, 15
SHOWN_OF_MANY = 12
CONTEXT = 18  # words on either side of a mistake

STYLE = """
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1rem 0 }
.facts div { background: var(--wash); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem }
.facts dt { color: var(--soft); font-size: .85rem } .facts dd { margin: 0; font-size: 1.35rem; font-weight: 600 }
.sentence { margin: .6rem 0; padding-left: .6rem; border-left: 3px solid var(--line); overflow-wrap: anywhere }
mark { background: rgb(var(--bad) / .25); color: inherit; border-radius: .25rem; padding: .05rem .25rem;
  box-decoration-break: clone; -webkit-box-decoration-break: clone }
.label { font-size: .8em; white-space: nowrap } .label.gold { font-weight: 600 }
.also { text-decoration: underline dotted; text-underline-offset: .2em }
.words { display: flex; flex-wrap: wrap; gap: 1rem 3rem; align-items: start } .words > div { max-width: 100% }
.words tbody th { overflow-wrap: anywhere; min-width: 6rem }
"""


def evaluation_page(tagged: Tagged) -> str:
    """The page."""
    mistakes = find_mistakes(tagged.words, tagged.corpus.y, tagged.predicted, tagged.known)
    scores = tagged.scores
    parts = {"labels": ("Labels", [_scores("label", scores.labels)])}
    if scores.spans is not None:
        overall = {"all spans": scores.spans} | scores.spans.types
        parts["spans"] = ("Spans", [_scores("span type", overall)])
    parts |= {
        "confusion": ("Confusion", [map_.heat_map(scores.confusion)]),
        "calibration": ("Calibration", _calibration(tagged)),
        "worst": ("Worst confusions", _confusions(tagged, mistakes)),
        "words": ("Known and unknown words", _words(tagged, mistakes)),
    }
    links = [f'<li><a href="#{name}">{text(title)}</a></li>' for name, (title, _) in parts.items()]
    title = f"{tagged.corpus.name}, tagged by {tagged.model.learner}"
    body = [
        '<a class="skip" href="#summary">Skip to the summary</a>',
        f"<header><h1>{text(title)}</h1></header>",
        f'<nav aria-label="parts of this page"><ul>{"".join(links)}</ul></nav>',
        "<main>",
        section("summary", "Summary", _summary(tagged, len(mistakes))),
        *[section(name, title, content) for name, (title, content) in parts.items()],
        "</main>",
        f'<footer><p class="soft">Written by Tagwright {text(__version__)}. All scores are in percent.</p></footer>',
    ]
    return document(title, body, style=STYLE + map_.STYLE + curve.STYLE + WHY_STYLE)


def _summary(tagged: Tagged, n_mistakes: int) -> list[str]:
    scores, model = tagged.scores, tagged.model
    numbers = {
        "Accuracy": scores.accuracy,
        "Span F1": scores.f1,
        "Sentence accuracy": scores.sentence_accuracy,
        "Known words": scores.known_accuracy,
        "Unknown words": scores.unknown_accuracy,
    }
    facts = {name: f"{value:.2f} %" for name, value in numbers.items() if value is not None}
    facts |= {"Tokens": f"{scores.tokens:,}", "Sentences": f"{scores.sentences:,}"}
    facts["Errors"] = f"{n_mistakes:,}"
    facts["Tokens a second"] = f"{tagged.tokens_per_second:,.0f}"
    features = model.encoder_.features
    trained = model.info_.get("file")
    facts_of_model = [
        f"Model: {model.learner}",
        "ready-made attributes" if features is None else f"features {features.name}",
        f"{len(model.labels_):,} labels",
        f"{model.n_parameters_:,} parameters",
        *([] if trained is None else [f"trained on {trained}"]),
    ]
    tiles = "\n".join([f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in facts.items()])
    return [f"<p>{text(', '.join(facts_of_model))}.</p>", f'<dl class="facts">\n{tiles}\n</dl>']


def _scores(title: str, rows: Mapping[str, Counts]) -> str:
    """A table of all; where they are many, of those that cost most, and the whole folded."""
    heads = [title, "precision", "recall", "F1", "support"]
    everything = table(f"Precision, recall and F1 of each {title}", heads, [_row(*pair) for pair in rows.items()])
    if len(rows) <= LONG:
        return everything
    worst = sorted(rows.items(), key=lambda pair: (-_errors(pair[1]), pair[0]))[:SHOWN_OF_MANY]
    first = table(f"The {SHOWN_OF_MANY} with the most errors", heads, [_row(*pair) for pair in worst])
    return f"{first}\n{folded(f'All {count(len(rows), title)}', everything)}"


def _row(name: str, row: Counts) -> list[str]:
    bar = f'<div class="bar" style="--part: {row.f1 / 100:.3f}">{row.f1:.2f}</div>'
    return [token(name), f"{row.precision:.2f}", f"{row.recall:.2f}", bar, f"{row.gold:,}"]


def _errors(row: Counts) -> int:
    """What was missed, and what was found wrongly."""
    return row.gold + row.predicted - 2 * row.correct


def _calibration(tagged: Tagged) -> list[str]:
    model = tagged.model
    if not model.probabilistic:
        reason = (
            f"There is no calibration curve: {model.learner} gives scores and no probabilities. "
            "A crf, memm, hmm or adaboost model would have one."
        )
        return [f"<p>{text(reason)}</p>"]
    lead = (
        "Of all predictions with probability 0.8, about 80 % should be right: the dashed line. Larger dots hold more."
    )
    found = curve.find_confidence(model, tagged.corpus.X, tagged.corpus.y, tagged.predicted)
    return [f"<p>{text(lead)}</p>", *[curve.reliability_curve(one) for one in found]]


def _confusions(tagged: Tagged, mistakes: Sequence[Mistake]) -> list[str]:
    if not mistakes:
        return ["<p>There are no errors.</p>"]
    lead = "The commonest errors, with sentences. Dots underline other errors of the same sentence."
    worst = worst_confusions(mistakes, SHOWN_CONFUSIONS)
    wrong = {(one.sentence, one.position): one for one in mistakes}
    blocks = [_confusion(tagged, one, wrong, is_open=i == 0) for i, one in enumerate(worst)]
    return [f"<p>{text(lead)}</p>", *blocks]


def _confusion(
    tagged: Tagged, mistakes: list[Mistake], wrong: Mapping[tuple[int, int], Mistake], *, is_open: bool
) -> str:
    gold, predicted = mistakes[0].gold, mistakes[0].predicted
    share = f"{100 * len(mistakes) / len(wrong):.1f} % of all errors"
    title = f"<strong>{token(gold)} taken for {token(predicted)}</strong>: {count(len(mistakes), 'time')}, {share}"
    sentences = [_sentence(tagged, one, wrong) for one in choose_examples(mistakes, SHOWN_EXAMPLES)]
    return "\n".join(
        [f"<details{' open' if is_open else ''}>", f"<summary>{title}</summary>", *sentences, "</details>"]
    )


def _sentence(tagged: Tagged, mistake: Mistake, wrong: Mapping[tuple[int, int], Mistake]) -> str:
    """The words around a mistake, with its labels."""
    words = tagged.words[mistake.sentence]
    first, last = max(0, mistake.position - CONTEXT), min(len(words), mistake.position + CONTEXT + 1)
    parts = ["…"] if first else []
    for t in range(first, last):
        other = wrong.get((mistake.sentence, t))
        if t == mistake.position:
            parts.append(_marked(mistake))
        elif other is not None:
            parts.append(_also(other))
        else:
            parts.append(token(words[t]))
    parts += ["…"] if last < len(words) else []
    kind = ", unknown word" if mistake.known is False else ""
    source = f'<span class="soft">(sentence {mistake.sentence + 1:,}{kind})</span>'
    reasons = why(tagged.model, tagged.corpus.X[mistake.sentence], mistake)
    return f'<p class="sentence" dir="auto">{" ".join(parts)} {source}</p>\n{reasons}'


def _also(mistake: Mistake) -> str:
    """Another mistake of the same sentence: its labels for the mouse and for screen readers."""
    note = text(f"gold {mistake.gold}, predicted {mistake.predicted}")
    word = f'<span class="also" title="{note}">{token(mistake.word)}</span>'
    return f'{word}<span class="hidden"> ({note})</span>'


def _marked(mistake: Mistake) -> str:
    gold = f'<span class="label gold">gold {token(mistake.gold)}</span>'
    predicted = f'<span class="label">predicted {token(mistake.predicted)}</span>'
    return f"<mark><strong>{token(mistake.word)}</strong> {gold} {predicted}</mark>"


def _words(tagged: Tagged, mistakes: Sequence[Mistake]) -> list[str]:
    if tagged.known is None:
        return ["<p>The model takes ready-made attributes and sees no words.</p>"]
    groups = group_words(tagged.words, mistakes, tagged.known, SHOWN_WORDS)
    rows = []
    for one in groups:
        accuracy = f"{100 * (1 - one.errors / one.tokens):.2f}" if one.tokens else "–"
        rows.append([one.name, f"{one.tokens:,}", f"{one.errors:,}", accuracy])
    lead = "A word is known if it stands in the training file."
    tables = [f"<div>{_word_table(one)}</div>" for one in groups if one.words]
    summary = table("Errors on known and unknown words", ["words", "tokens", "errors", "accuracy"], rows)
    return [f"<p>{text(lead)}</p>", summary, f'<div class="words">{"".join(tables)}</div>']


def _word_table(group: WordGroup) -> str:
    rows = [
        [token(one.word), f"{token(one.gold)} → {token(one.predicted)}", f"{one.errors:,}", f"{one.tokens:,}"]
        for one in group.words
    ]
    heads = ["word", "gold → predicted", "errors", "tokens"]
    return table(f"The {group.name} words with the most errors, and their commonest error", heads, rows, names=2)
