"""Runs one package on many inputs: as `python programs.py NAME ORDER.json`, in an environment that has the package.

    order   {"inputs": [...], "output": path}     what is printed: {"seconds": ..., "processor": ..., "module": ...}

Nothing here knows of Tagwright: it is put in the place of the originals from outside (`tagwright.as_crfsuite`).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

WARM_UP = 10
"""Inputs that are not timed, for what is loaded or compiled when it is first used."""
Program = Callable[[Any], Any]


def usaddress() -> Program:
    """Parts of addresses in the United States."""
    found: Program = import_module("usaddress").parse
    return found


def probablepeople() -> Program:
    """Parts of names: each of the three models."""
    parse = import_module("probablepeople").parse
    return lambda text: [parse(text, type=kind) for kind in (None, "person", "company")]


def crfcut() -> Program:
    """PyThaiNLP's sentences."""
    found: Program = import_module("pythainlp.tokenize.crfcut").segment
    return found


def han_solo() -> Program:
    """PyThaiNLP's syllables."""
    found: Program = import_module("pythainlp.tokenize.han_solo").segment
    return found


def crfchunk() -> Program:
    """PyThaiNLP's phrases of words with parts of speech."""
    parser = import_module("pythainlp.chunk.crfchunk").CRFChunkParser()
    return lambda words: parser.parse([tuple(word) for word in words])


def ssg() -> Program:
    """Thai syllables."""
    found: Program = import_module("ssg").syllable_tokenize
    return found


def tltk() -> Program:
    """Thai names of people and places, in words with parts of speech."""
    tag = import_module("tltk.nlp").ner
    return lambda words: tag([tuple(word) for word in words])


def pyvi() -> Program:
    """Vietnamese words, and their parts of speech."""
    words, tags = import_module("pyvi.ViTokenizer"), import_module("pyvi.ViPosTagger")
    return lambda text: [words.tokenize(text), tags.postagging(text)]


def pyvi_accents() -> Program:
    """Accents for Vietnamese written without."""
    found: Program = import_module("pyvi.ViUtils").add_accents
    return found


def pyidaungsu() -> Program:
    """Burmese words."""
    tokenize = import_module("pyidaungsu").tokenize
    return lambda text: tokenize(text, form="word")


def khmernltk() -> Program:
    """Khmer words, and their parts of speech."""
    package = import_module("khmernltk")
    return lambda text: [package.word_tokenize(text), package.pos_tag(text)]


def sinling() -> Program:
    """Parts of speech of Sinhala words."""
    tagger = import_module("sinling").POSTagger()
    return lambda words: tagger.predict([words])


def autopager() -> Program:
    """Links of a web page that lead to its other pages."""
    found: Program = import_module("autopager").urls
    return found


PROGRAMS: dict[str, Callable[[], Program]] = {
    own.__name__: own
    for own in (
        usaddress, probablepeople, crfcut, han_solo, crfchunk, ssg, tltk, pyvi, pyvi_accents, pyidaungsu, khmernltk,
        sinling, autopager,
    )
}  # fmt: skip


def try_on(run: Program, text: Any) -> Any:
    """What the package makes of an input; an error of its own is a result, too."""
    try:
        return run(text)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def plain(value: Any) -> Any:
    """Arrays, as JSON has them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def main() -> None:
    order = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    run, inputs = PROGRAMS[sys.argv[1]](), order["inputs"]
    for text in inputs[:WARM_UP]:
        try_on(run, text)
    began = time.perf_counter(), time.process_time()
    found = [try_on(run, text) for text in inputs]
    seconds, processor = time.perf_counter() - began[0], time.process_time() - began[1]
    Path(order["output"]).write_text(json.dumps(found, default=plain, ensure_ascii=False), encoding="utf-8")
    module = sys.modules["pycrfsuite"].__name__
    print(json.dumps({"seconds": seconds, "processor": processor, "module": module}))


if __name__ == "__main__":
    main()
