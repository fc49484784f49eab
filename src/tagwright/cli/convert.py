"""`tagwright convert`: models of other programs as ours, and ours as CRFsuite's.

What the file is, its content says; which way it goes follows from that. Nothing in a file is executed.
"""

from __future__ import annotations

import os
from argparse import Namespace

from tagwright.cli.console import print_json
from tagwright.cli.corpus import clean_name
from tagwright.cli.output import check_target
from tagwright.cli.sources import keep_inputs
from tagwright.crfsuite import find_model, from_crf, to_crf, unpack_model, write_model
from tagwright.crfsuite.binary import MAGIC as CRFSUITE_MAGIC
from tagwright.crfsuite.pickled import is_pickle
from tagwright.errors import ModelFileError
from tagwright.learners import SequenceTagger, load
from tagwright.model_file import MAGIC
from tagwright.wapiti import parse_model
from tagwright.wapiti import to_crf as from_wapiti
from tagwright.wapiti.text_model import MAGIC as WAPITI_MAGIC

CRFSUITE, PICKLE, WAPITI = "a CRFsuite model", "a pickle with a CRFsuite model", "a Wapiti model"
TAGWRIGHT = "a Tagwright model"
CRFSUITE_ENDING = ".crfsuite"


def run(arguments: Namespace) -> None:
    """Convert as the command line says."""
    check_target(arguments.out)
    keep_inputs(arguments.out, arguments.file)
    with open(arguments.file, "rb") as file:
        data = file.read()
    kind = recognise(data, arguments.file)
    if kind == TAGWRIGHT:
        model = load(arguments.file)
        write_model(arguments.out, from_crf(model))
    else:
        model = read_foreign(data, kind, arguments.file)
        model.info_ = {"converted": kind, "file": clean_name(arguments.file)}
        if arguments.out.endswith(CRFSUITE_ENDING):
            write_model(arguments.out, from_crf(model))
        else:
            model.save(arguments.out)
    report(arguments, model, kind)


def recognise(data: bytes, name: str) -> str:
    """What kind of model a file is."""
    if data.startswith(MAGIC):
        return TAGWRIGHT
    if data.startswith(CRFSUITE_MAGIC):
        return CRFSUITE
    if data.startswith(WAPITI_MAGIC):
        return WAPITI
    if is_pickle(data[:16]):
        return PICKLE
    expected = "a model of CRFsuite, Wapiti or Tagwright, or a pickle of sklearn-crfsuite's"
    raise ModelFileError(f"{name}: the file begins with {data[:12]!r}, expected {expected}; check the path")


def read_foreign(data: bytes, kind: str, name: str) -> SequenceTagger:
    """The model of another program as ours."""
    if kind == WAPITI:
        return from_wapiti(parse_model(data, name), name)
    if kind == PICKLE:
        data = find_model(data, name)
    return to_crf(unpack_model(data, name))


def report(arguments: Namespace, model: SequenceTagger, kind: str) -> None:
    """Print what was converted, for a person or as JSON."""
    facts = {
        "found": kind,
        "labels": len(model.labels_),
        "attributes": model.encoder_.n_attributes,
        "parameters": model.n_parameters_,
        "model_bytes": os.path.getsize(arguments.out),
    }
    if arguments.json:
        print_json({**facts, "model": arguments.out})
    elif not arguments.quiet:
        print(
            f"{kind}: {facts['labels']:,} labels, {facts['attributes']:,} attributes, "
            f"{facts['parameters']:,} parameters\n{arguments.out}  {facts['model_bytes']:,} bytes"
        )
