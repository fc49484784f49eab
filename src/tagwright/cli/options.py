"""What the command line takes: the parser of all commands. Nothing heavy is imported here.

Values are checked where their meaning is known: learners, presets and columns by the command that uses them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from tagwright import __version__
from tagwright.io import FORMATS
from tagwright.io.layout import is_separator
from tagwright.io.lines import UTF_8
from tagwright.learners import LEARNERS
from tagwright.learners._default_features import DEFAULT_PRESETS, SPAN_PRESET, USUAL_PRESET

# For the help text; the presets themselves are in tagwright.attributes.
PRESETS = ("pos", "ner", "chunk", "s1", "s2", "s3", "ratnaparkhi", "a", "b", "c", "d", "e", "best")
COMPARED = ("hmm", "memm", "crf", "perceptron")  # unless --learners says otherwise: those that are fast
MOST_NBEST = 100

AddParser = Callable[..., argparse.ArgumentParser]

SOURCE = "files or patterns, - for standard input, or the word sample for the embedded corpus"
HELD_OUT = ("--dev", "--test")
LABELS = "the labels' column, by name or by number from 0"


class IntermixedParser(argparse.ArgumentParser):
    """The parser of one command: options may stand anywhere, also between two names."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_intermixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options first, then the names that are left: argparse does that by calling this again, twice."""
        if self._is_intermixing:
            return super().parse_known_args(args, namespace)
        self._is_intermixing = True
        try:
            found = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_intermixing = False
        given = vars(found[0])
        self._refuse_names_after_held_out(args or (), given.get("train") or given.get("files") or ())
        return found

    def _refuse_names_after_held_out(self, args: Sequence[str], names: Sequence[str]) -> None:
        """`train a --dev b*` without quotes is `train a --dev b1 b2`: b2 would be trained on, and nobody told."""
        for option, value, after in zip(args, args[1:], args[2:]):
            if option in HELD_OUT and not value.endswith("%") and after in names[1:] and after != names[0]:
                self.error(
                    f"{option} takes one file or one pattern: found {after!r} after {value!r}, which would be trained "
                    f"on; quote the pattern ('*'), or name the files to train on before {option}"
                )


def make_parser() -> argparse.ArgumentParser:
    """The parser of `tagwright`; the chosen command is in `command`."""
    parser = argparse.ArgumentParser(
        prog="tagwright",
        description="Sequence taggers (part of speech, names, chunks, any labelled sequence) that train in seconds.",
        epilog="`tagwright COMMAND --help` tells more. Try: tagwright train sample --out pos.tw --dev 20%",
    )
    parser.add_argument("--version", action="version", version=f"tagwright {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=IntermixedParser)
    for add_command in (
        _add_train, _add_tag, _add_evaluate, _add_inspect, _add_compare, _add_clusters, _add_convert, _add_warm_up,
    ):  # fmt: skip
        add_command(commands.add_parser)
    return parser


def _add_train(add_parser: AddParser) -> None:
    parser = add_parser(
        "train",
        help="learn a model from labelled sentences",
        description="Learn a model from labelled sentences. Ctrl-C once stops early and keeps the model so far.",
    )
    add = parser.add_argument
    add("train", metavar="TRAIN", nargs="+", help=SOURCE)
    add("-o", "--out", metavar="MODEL", required=True, help="the model file to write")
    add("--dev", metavar="DEV", help="held-out sentences that decide when to stop: a file, or a share such as 20%%")
    add("--learner", metavar="NAME", default="crf", help=f"{', '.join(LEARNERS)} (default: crf)")
    own = ", ".join([f"{preset} for {name}" for name, preset in DEFAULT_PRESETS.items()])
    default = f"default: {SPAN_PRESET} for span labels, else {USUAL_PRESET}, {own}; an hmm has a model of words"
    templates = f"templates: {', '.join(PRESETS)} or a file ({default})"
    add("--features", metavar="NAME|FILE", default="auto", help=templates)
    add("--clusters", metavar="FILE", help="word clusters for the templates to look at, from `tagwright clusters`")
    _add_settings(parser, "KEY=VALUE", "parameters of the learner, such as c2=0.1")
    _add_columns(parser, f"{LABELS} (default: the last; UPOS in CoNLL-U)")
    _add_output(parser, "print errors only")


def _add_tag(add_parser: AddParser) -> None:
    parser = add_parser(
        "tag",
        help="label sentences",
        description="Label sentences as they come: tokens in, the same lines with labels out. Plain text (one sentence "
        "per line, tokens separated by spaces) gives word/TAG; columns get one more column; CoNLL-U gets its column "
        "filled.",
    )
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file")
    add("files", metavar="FILE", nargs="*", default=["-"], help=f"{SOURCE} (default: -)")
    written = "write here, whole or not at all, packed if it ends in .gz, .bz2 or .xz (default: standard output)"
    add("-o", "--output", metavar="FILE", help=written)
    _add_columns(parser, "the column to fill in CoNLL-U (default: as in training)")
    more = parser.add_mutually_exclusive_group()
    best = "the K best labellings, each after a line of its rank"
    more.add_argument("--nbest", metavar="K", type=_whole(1, MOST_NBEST), help=best)
    more.add_argument("--marginals", action="store_true", help="add the probability of each label")
    order = "show the order in which a guided model labels, a table for a sentence"
    more.add_argument("--explain", action="store_true", help=order)
    add("--html", metavar="FILE", help="with --explain: write a page of pictures there instead")
    _add_threads(parser)
    add("--quiet", action="store_true", help="print errors only on standard error")


def _add_evaluate(add_parser: AddParser) -> None:
    parser = add_parser(
        "evaluate",
        help="score a model on labelled sentences",
        description="Score a model on labelled sentences: accuracy of tokens, sentences, known and unknown words; "
        "precision, recall and F1 of labels, and of spans where labels are IOB or IOBES (conlleval's numbers).",
    )
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("files", metavar="FILE", nargs="+", help=SOURCE)
    parser.add_argument("--report", metavar="DIR", help="write a page there as well (DIR/index.html)")
    _add_columns(parser, f"{LABELS} (default: as in training)")
    _add_threads(parser)
    _add_output(parser, "no notes on standard error")


def _add_inspect(add_parser: AddParser) -> None:
    parser = add_parser(
        "inspect",
        help="show what a model is and what it learned",
        description="Show what a model is and what it learned: labels, templates, sizes, top weights, transitions.",
    )
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file")
    add("--top", metavar="N", type=_whole(1), default=5, help="weights for each label (default: 5)")
    add("--label", metavar="LABEL", action="append", default=[], help="show this label alone; may be repeated")
    tokens = (
        "show the attributes and weights of each token of a sentence instead, with --label NNP why a token is not NNP; "
        "columns are joined: dog/NN"
    )
    add("--attributes", metavar="'TOKEN TOKEN ...'", help=tokens)
    support = "show the support sequences of an hmsvm instead: of training sentence N (from 0), or the --top heaviest"
    add("--support", metavar="N", nargs="?", type=_whole(0), const=-1, help=support)
    add("--html", metavar="FILE", help="with --support: write a page there instead")
    _add_output(parser, "no notes on standard error")


def _add_compare(add_parser: AddParser) -> None:
    parser = add_parser(
        "compare",
        help="compare learners and features, with errors and significance",
        description="Train and test learners on the same folds of a file, or on a test file: scores with standard "
        "errors, significance against the best, time and size. Ctrl-C stops and shows what is finished.",
    )
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help=SOURCE)
    learners = f"of {', '.join(LEARNERS)}, or all (default: {','.join(COMPARED)})"
    add("--learners", metavar="A,B,...", type=_names, default=list(COMPARED), help=learners)
    features = f"each learner with each of these: {', '.join(PRESETS)} or a file (default: as in train)"
    add("--features", metavar="F,G,...", type=_names, default=["auto"], help=features)
    add("--folds", metavar="N", type=_whole(2), default=5, help="parts for cross-validation (default: 5)")
    add("--draws", metavar="N", type=_whole(1), default=1, help="repeat with sentences drawn anew (default: 1)")
    add("--size", metavar="M", type=_whole(1), help="sentences of a draw (default: all)")
    add("--sizes", metavar="N,M,...", type=_wholes, default=[], help="training sentences, for learning curves")
    add("--dev", metavar="FILE", help="held-out sentences that decide when a training stops")
    add("--test", metavar="FILE", help="sentences to score on, instead of folds")
    add("--plot", metavar="PNG", help="draw scores against training time, or learning curves (.png, .svg or .pdf)")
    _add_settings(parser, "[LEARNER.]KEY=VALUE", "parameters of one learner or of all that have them: crf.c2=0.1")
    _add_columns(parser, f"{LABELS} (default: the last; UPOS in CoNLL-U)")
    _add_output(parser, "no notes and no progress on standard error")


def _add_clusters(add_parser: AddParser) -> None:
    parser = add_parser(
        "clusters",
        help="learn word clusters from text without labels",
        description="Learn clusters of words that stand in like surroundings, from text without labels, for "
        "`tagwright train --clusters`. A line for each word: path in the tree of clusters, word, count.",
    )
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help=f"{SOURCE}; plain text has one sentence per line")
    add("-o", "--out", metavar="CLUSTERS", required=True, help="the file to write")
    add("--number", metavar="N", type=_whole(2), default=256, help="of clusters (default: 256)")
    add("--min-count", metavar="N", type=_whole(1), default=1, help="rarer words get none (default: 1)")
    _add_format(parser)
    _add_output(parser, "print errors only")


def _add_convert(add_parser: AddParser) -> None:
    parser = add_parser(
        "convert",
        help="turn models of CRFsuite and Wapiti into ours, and ours into CRFsuite's",
        description="Turn a model of another program into one of ours: a CRFsuite model, a pickle or joblib file of "
        "sklearn-crfsuite's (nothing in it is executed), a text model of Wapiti's. A model of ours on ready-made "
        "attributes becomes a CRFsuite model.",
    )
    parser.add_argument("file", metavar="IN", help="the model to convert; what it is, its content says")
    out = "the file to write: a model of ours, or one of CRFsuite's where IN is ours or OUT ends in .crfsuite"
    parser.add_argument("out", metavar="OUT", help=out)
    _add_output(parser, "print errors only")


def _add_warm_up(add_parser: AddParser) -> None:
    parser = add_parser(
        "warm-up",
        help="compile all kernels for this CPU now",
        description="Compile all kernels that are not compiled for this CPU yet, so that no later command has to.",
    )
    parser.add_argument("--processes", metavar="N", type=_whole(1), help="default: all cores")
    _add_output(parser, "print errors only")


def _add_settings(parser: argparse.ArgumentParser, metavar: str, help: str) -> None:
    add = parser.add_argument
    add("--set", metavar=metavar, nargs="+", action="extend", type=_pair, default=[], dest="settings", help=help)
    add("--seed", metavar="N", type=_whole(0), help="for what is random (default: 0)", default=0)
    _add_threads(parser)


def _add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", metavar="N", type=_whole(1), help="default: all cores")


def _add_output(parser: argparse.ArgumentParser, quiet: str) -> None:
    parser.add_argument("--quiet", action="store_true", help=quiet)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_format(parser: argparse.ArgumentParser) -> None:
    known = "; ".join(f"{format.name}: {format.description}" for format in FORMATS.values())
    help = f"how the file is written (default: auto). {known}"
    parser.add_argument("--format", choices=("auto", *FORMATS), default="auto", help=help)
    separator = "between words and tags, for the format slashed: _ for word_TAG (default: /, or as in training)"
    parser.add_argument("--separator", metavar="S", type=_separator, help=separator)
    encoding = "of the files that are read, such as latin-1 (default: utf-8); what is written is UTF-8"
    parser.add_argument("--encoding", metavar="NAME", type=_encoding, default=UTF_8, help=encoding)


def _add_columns(parser: argparse.ArgumentParser, column: str) -> None:
    _add_format(parser)
    parser.add_argument("--column", metavar="NAME|N", help=column)
    inputs = "input columns, words first (default: all left of the label)"
    parser.add_argument("--inputs", metavar="A,B,...", type=_names, help=inputs)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, found {text!r}")
    return key.strip().replace("-", "_"), value.strip()


def _encoding(text: str) -> str:
    """The name of an encoding that Python has."""
    try:
        "".encode(text)
        b"".decode(text)
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(f"expected an encoding such as utf-8 or latin-1, found {text!r}") from None
    return text


def _separator(text: str) -> str:
    if not is_separator(text):
        raise argparse.ArgumentTypeError(f"expected one or more characters, no white space, found {text!r}")
    return text


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise argparse.ArgumentTypeError(f"expected names or numbers with commas between, found {text!r}")
    return names


def _wholes(text: str) -> list[int]:
    return [_whole(1)(part) for part in _names(text)]


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers from `least` to `most`."""
    limit = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"expected a whole number {limit}, found {text!r}")
        return number

    return read
