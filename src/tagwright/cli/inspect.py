"""`tagwright inspect`: what a model is and what it learned, for a person or as JSON."""

from __future__ import annotations

import os
import shutil
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from tagwright.cli.console import print_json
from tagwright.cli.corpus import training_layout
from tagwright.cli.learned import (
    describe_dictionary,
    describe_kernel,
    explain,
    explained_json,
    find_measure,
    template_sizes,
    top_weights,
    transitions,
    trigrams,
)
from tagwright.cli.output import write_text
from tagwright.cli.report import count
from tagwright.cli.support import find_support, format_support, summarise, support_html, support_json
from tagwright.errors import ParameterError
from tagwright.learners import SequenceTagger, load
from tagwright.learners._explanation import TRANSITION, Explanation, Reason

SHOWN_TRANSITIONS = 10
SHOWN_CHOSEN, SHOWN_ROUNDS = 20, 5
NOT_SHOWN = ("features", "n_jobs", "verbose", "callbacks", "warm_start")


def run(arguments: Namespace) -> None:
    """Inspect as the command line says."""
    model = load(arguments.model)
    labels = check_labels(arguments.label, model)
    if arguments.html is not None and arguments.support is None:
        raise ParameterError("--html: there is a page of support sequences only; give --support too")
    content: dict[str, Any]
    if arguments.attributes is not None:
        if len(arguments.label) > 1:
            raise ParameterError(
                f"--label: found {len(arguments.label)} labels, --attributes compares with one; name one"
            )
        against = next(iter(arguments.label), None)
        found = explain(model, arguments.attributes, against)
        content = {"tokens": [explained_json(one, against=against is not None) for one in found]}
        text = "\n\n".join([format_weighed(one) if against is None else format_compared(one) for one in found])
    elif arguments.support is not None:
        support = find_support(model, None if arguments.support < 0 else arguments.support)
        if arguments.html is not None:
            write_text(arguments.html, support_html(support, arguments.top))
            return
        content, text = support_json(support), format_support(support, arguments.top)
    else:
        content = describe(model, arguments.model, labels, arguments.top)
        text = format_text(content, templates=not arguments.label)
    if arguments.json:
        print_json(content)
    else:
        print(text)


def check_labels(wanted: Sequence[str], model: SequenceTagger) -> list[str]:
    """The labels to show: those asked for, or all."""
    for label in wanted:
        if label not in model.labels_:
            raise ParameterError(f"--label: the model has no label {label!r}; it has: {', '.join(model.labels_)}")
    return list(wanted) or list(model.labels_)


def describe(model: SequenceTagger, path: str, labels: Sequence[str], top: int) -> dict[str, Any]:
    """All that `inspect` shows, as JSON holds it."""
    encoder = model.encoder_
    features = encoder.features
    shown = set(labels)
    params = {name: value for name, value in model.get_params().items() if name not in NOT_SHOWN}
    support, chosen = model.support_sentences(), model.chosen_features()
    return {
        "model": path,
        "model_bytes": os.path.getsize(path),
        "learner": model.learner,
        "params": params,
        "changed": {name: value for name, value in params.items() if value != model.parameters[name].default},
        "iterations": getattr(model, "n_iter_", None),
        "objective": getattr(model, "objective_", None),
        "converged": getattr(model, "converged_", None),
        "span_calibration": None if model.span_calibration_ is None else asdict(model.span_calibration_),
        "parameters": model.n_parameters_,
        "attributes": encoder.n_attributes,
        "words": len(encoder.columns[0].values) if encoder.columns else None,
        "tag_dictionary": describe_dictionary(model),
        "kernel": describe_kernel(model),
        "support": None if support is None else summarise(support),
        "labels": model.labels_,
        "features": None if features is None else {"name": features.name, "text": features.to_text()},
        "layout": training_layout(model).to_json(),
        "training": {name: value for name, value in model.info_.items() if name != "layout"},
        "templates": [size._asdict() for size in template_sizes(model)],
        "measure": find_measure(model),
        "weights": {label: pairs for label, pairs in top_weights(model, top).items() if label in shown},
        "contexts": {label: pairs for label, pairs in model.top_contexts(top).items() if label in shown},
        "order": [{"label": label, "place": rank} for label, rank in model.typical_order()],
        "chosen": None if chosen is None else [c._asdict() for c in chosen if shown & {c.attribute, c.label}],
        "transitions": [t for t in transitions(model) if t.previous in shown or t.current in shown],
        "trigrams": [t for t in trigrams(model) if not shown.isdisjoint(t[:3])],
    }


def format_text(found: dict[str, Any], *, templates: bool = True) -> str:
    """The description for a person."""
    width = shutil.get_terminal_size().columns
    parts = [format_head(found, width)]
    if templates and found["templates"]:
        parts.append(format_templates(found["templates"]))
    if any(found["weights"].values()):
        parts.append(format_weights(found["weights"], f"highest {found['measure']} for each label", width))
    if any(found["contexts"].values()):
        parts.append(format_weights(found["contexts"], "label contexts: highest weight for each label", width))
    if found["order"]:
        parts.append(format_order(found["order"], width))
    if found["chosen"]:
        parts.append(format_chosen(found["chosen"]))
    if found["transitions"]:
        parts.append(format_transitions(found["transitions"], "transitions"))
    if found["trigrams"]:
        parts.append(format_transitions(found["trigrams"], "label trigrams"))
    return "\n\n".join(parts)


def format_head(found: dict[str, Any], width: int) -> str:
    """What the model is."""
    training, layout = found["training"], found["layout"]
    rows = [("learner", " ".join([found["learner"], *[f"{k}={v}" for k, v in found["changed"].items()]]))]
    if "converted" in training:
        rows.append(("converted", f"from {training['file']}, {training['converted']}"))
    elif training:
        size = f"{training['tokens']:,} tokens in {training['sentences']:,} sentences"
        rows.append(("trained on", f"{training['file']}, {size}, by Tagwright {training['tagwright']}"))
        inputs = " ".join(layout["names"] or map(str, layout["inputs"]))
        label = layout["label_name"] or f"in column {layout['label']}"
        rows.append(("file", f"{layout['format']}, label {label}, inputs {inputs}"))
    if found["iterations"] is not None:
        end = "stopped by Ctrl-C" if training.get("interrupted") else "converged" if found["converged"] else "cut short"
        rows.append(("training", f"{count(found['iterations'], 'iteration')}, {end}"))
    if found["span_calibration"] is not None:
        numbers = ", ".join([f"{name} {value:.2f}" for name, value in found["span_calibration"].items()])
        rows.append(("spans", f"probabilities calibrated: {numbers}"))
    features = "ready-made attributes" if found["features"] is None else found["features"]["name"]
    rows.append(("features", f"{features}: {found['attributes']:,} attributes"))
    if found["words"] is not None:
        rows.append(("known", f"{found['words']:,} words"))
    if found["tag_dictionary"] is not None:
        size = found["tag_dictionary"]
        kept = f"{size['words']:,} words keep to their labels ({size['labels_a_word']:.2f} each)"
        rows.append(("dictionary", f"{kept}, all others to {size['open_labels']} labels"))
    if found["kernel"] is not None:
        rows.append(("kernel", format_kernel(found["kernel"])))
    if found["support"] is not None:
        rows.append(("support", f"{found['support']} (inspect --support)"))
    rows.append(("parameters", f"{found['parameters']:,} that are not zero, in {found['model_bytes']:,} bytes"))
    rows.append(("labels", f"{len(found['labels'])}: {' '.join(found['labels'])}"))
    return "\n".join([found["model"], *[_hang(f"{name:<11}", text, width) for name, text in rows]])


def format_templates(sizes: list[dict[str, Any]]) -> str:
    """Attributes and weights of every template."""
    room = max(len("template"), *[len(size["template"]) for size in sizes])
    weighed = sizes[0]["weights"] is not None
    lines = [f"{'template':<{room}} {'attributes':>11}" + (f" {'weights':>11}" if weighed else "")]
    for s in sizes:
        lines.append(f"{s['template']:<{room}} {s['attributes']:>11,}" + (f" {s['weights']:>11,}" if weighed else ""))
    return "\n".join(lines)


def format_order(order: list[dict[str, Any]], width: int) -> str:
    """Labels as they are given, easy ones first."""
    shown = "   ".join([f"{one['place']:.2f}\0{one['label']}" for one in order])
    head = "typical order of labelling: mean place in a sentence, from 0 (first) to 1 (last)"
    return f"{head}\n{_hang('', shown, width)}".replace("\0", " ")


def format_kernel(kernel: dict[str, Any]) -> str:
    """Its formula, and what it is expanded over."""
    gamma, coef0 = f"{kernel['gamma']:.3g}", f"{kernel['coef0']:.3g}"
    formula = {
        "linear": "⟨x, z⟩",
        "poly": f"({gamma} ⟨x, z⟩ + {coef0})^{kernel['degree']}",
        "rbf": f"exp(−{gamma} ‖x − z‖²)",
    }.get(kernel["name"], kernel["name"])
    return f"{formula}; {count(kernel['contexts'], 'support context')}: distinct training tokens with a multiplier"


def format_weights(weights: dict[str, list[tuple[str, float]]], head: str, width: int) -> str:
    """A paragraph for each label."""
    room = max(map(len, weights)) + 2
    lines = [head]
    for label, pairs in weights.items():
        shown = "   ".join([f"{weight:.2f}\0{name}" for name, weight in pairs]) or "none above 0"
        lines.append(_hang(f"{label:<{room}}", shown, width).replace("\0", " "))
    return "\n".join(lines)


def format_chosen(features: list[dict[str, Any]]) -> str:
    """The first features that boosting chose, with total weight and rounds."""
    rows = [(f"{f['attribute']} → {f['label']}", f) for f in features[:SHOWN_CHOSEN]]
    room = max(len(name) for name, _ in rows)
    lines = [f"first of {len(features):,} chosen features"]
    for name, feature in rows:
        rounds = feature["rounds"]
        more = f" and {len(rounds) - SHOWN_ROUNDS} more" if len(rounds) > SHOWN_ROUNDS else ""
        shown = ", ".join(map(str, rounds[:SHOWN_ROUNDS]))
        lines.append(
            f"{name:<{room}} {feature['weight']:8.2f}  {'round' if len(rounds) == 1 else 'rounds'} {shown}{more}"
        )
    return "\n".join(lines)


def format_transitions(found: Sequence[tuple[Any, ...]], what: str) -> str:
    """The strongest ones either way, side by side; a score stands after its labels."""
    rows = [(" → ".join(labels), f"{score:8.2f}") for *labels, score in found]
    best, worst = rows[:SHOWN_TRANSITIONS], rows[::-1][:SHOWN_TRANSITIONS]
    room = max(16, *[len(name) for name, _ in [*best, *worst]])
    lines = [f"{f'likely {what}':<{room + 12}}unlikely {what}"]
    for left, right in zip(best, worst, strict=True):
        lines.append("   ".join([f"{name:<{room}} {score}" for name, score in (left, right)]))
    return "\n".join(lines)


def format_weighed(one: Explanation) -> str:
    """A token: attributes by weight, those unknown to the model last."""
    known = [reason for reason in one.reasons if reason.kind != TRANSITION and reason.name not in one.new]
    lines = [f"  {reason.weight:8.3f}  {reason.name}" for reason in sorted(known, key=lambda reason: -reason.weight)]
    return "\n".join([f"{one.token}  →  {one.label}", *lines, *_format_new(one, 10)])


def format_compared(one: Explanation) -> str:
    """A token with two labels side by side: what adds most to the lead of its own first, and the totals."""
    room = max(8, len(one.label), len(one.runner_up))
    rows = [(reason.weight, reason.runner_up_weight, reason.name) for reason in _by_difference(one)]
    rows.append((one.score, one.runner_up_score, "total"))
    lines = [f"  {a:{room}.3f}  {b:{room}.3f}  {name}" for a, b, name in rows]
    heads = f"  {one.label:>{room}}  {one.runner_up:>{room}}"
    title = f"{one.token}  →  {one.label}, not {one.runner_up}: ahead by {one.margin:.3f}"
    return "\n".join([title, heads, *lines[:-1], *_format_new(one, 2 * room + 4), lines[-1]])


def _by_difference(one: Explanation) -> list[Reason]:
    """Without what weighs nothing for either label."""
    found = [reason for reason in one.reasons if reason.weight or reason.runner_up_weight]
    return sorted(found, key=lambda reason: -(reason.difference if reason.weight > -np.inf else -np.inf))


def _format_new(one: Explanation, room: int) -> list[str]:
    listed = {reason.name for reason in one.reasons}
    return [f"{'new':>{room}}  {name}" for name in one.new if name not in listed]


def _hang(head: str, text: str, width: int) -> str:
    """`text` after `head`, further lines below its beginning."""
    return textwrap.fill(
        text, max(width, 40), initial_indent=head, subsequent_indent=" " * len(head),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
