"""What users give: is it what the model was trained on? Formats, several files, patterns, packed files, options."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.commands import Run, train

from tagwright import HMM, load
from tagwright.cli import options
from tagwright.datasets import sample
from tagwright.io import read_sentences

Rows = list[list[tuple[str, str, str]]]
COLUMNS_MISSING = "expected 2 columns for each word, as in training (0, 1): those after the word are missing"


@pytest.fixture(scope="module")
def rows() -> Rows:
    """(word, tag, chunk) of some sentences."""
    X, y = sample("chunk")
    return [[(*item, label) for item, label in zip(words, labels)] for words, labels in zip(X[:80], y)]


def write(path: Path, rows: Rows, line: Callable[..., str], between: str = "\n", after: str = "\n\n") -> Path:
    path.write_text("".join(between.join([line(*row) for row in part]) + after for part in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, rows: Rows) -> Path:
    """The same sentences in several formats, and models of them."""
    folder = tmp_path_factory.mktemp("input")
    write(folder / "three", rows, lambda *row: " ".join(row))
    write(folder / "pairs", rows, lambda word, tag, _: f"{word} {tag}")
    write(folder / "words", rows, lambda word, *_: word)
    write(folder / "plain", rows, lambda word, *_: word, " ", "\n")
    write(folder / "slashed", rows, lambda word, tag, _: f"{word}/{tag}", " ", "\n")
    write(folder / "under", rows, lambda word, tag, _: f"{word}_{tag}", " ", "\n")
    write(folder / "brown", rows, lambda word, tag, _: f"{word}/{tag}", " ", " \n\n\n\t")
    records = [dict(zip(("tokens", "pos", "chunks"), map(list, zip(*part)))) for part in rows]
    (folder / "lines.jsonl").write_text(
        "".join(json.dumps({"id": i} | record) + "\n" for i, record in enumerate(records))
    )
    write(folder / "dp", rows, lambda word, tag, _: f"{word}\t{tag}\t{len(word)}")
    write(folder / "named", rows, lambda *row: "\t".join(row))
    (folder / "named").write_text("# global.columns = WORD POS CHUNK\n" + (folder / "named").read_text())
    write(folder / "turned", rows, lambda word, tag, label: f"{label}\t{tag}\t{word}")
    (folder / "turned").write_text("# global.columns = CHUNK POS WORD\n" + (folder / "turned").read_text())
    write(folder / "x.crfsuite", rows, lambda word, tag, _: f"{tag.replace(':', 'c')}\tw={word.replace(':', 'c')}")
    (folder / "brown").write_text("\n\n\t" + (folder / "brown").read_text().removesuffix("\t"))
    train(folder / "three.tw", folder / "three")
    train(folder / "pairs.tw", folder / "pairs")
    train(folder / "named.tw", folder / "named")
    train(folder / "under.tw", folder / "under", "--separator", "_")
    train(folder / "crf.tw", folder / "x.crfsuite")
    return folder


def refused(found: tuple[int, str, str], *messages: str) -> None:
    code, out, err = found
    assert (code, out) == (1, "")
    assert err.count("\n") == 1, err
    for message in messages:
        assert message in err


# ---- 1: the columns that the model was trained on ----


@pytest.mark.parametrize(
    "text",
    ["De minister Jan Peeters woont in Gent .\n", "Gent\n", "a b c d e f g h\nx y z\n\n", "Jan slaapt .\nHij niet .\n"],
)
def test_a_model_with_two_input_columns_refuses_plain_text(run: Run, folder: Path, text: str) -> None:
    found = run("tag", folder / "three.tw", stdin=text)
    if len({len(line.split()) for line in text.split("\n") if line}) == 1 and len(text.split("\n")[0].split()) == 3:
        refused(found, "column 1 begins with 'slaapt', 'niet', expected values as in training, such as", "--inputs")
    else:
        refused(found, "<stdin>: found plain text", COLUMNS_MISSING, "give each word a line with its columns")


def test_a_model_with_two_input_columns_tags_what_has_them(run: Run, folder: Path) -> None:
    for name in ("pairs", "three", "named"):
        found = run("tag", folder / "three.tw", folder / name)
        assert (found.code, found.err) == (0, "")
        assert found.out.count("B-NP") > 100
    assert run("tag", folder / "three.tw", stdin="The DT\ndog NN\n\n").out == "The DT B-NP\ndog NN I-NP\n\n"


def test_words_are_not_taken_for_tags(run: Run, folder: Path, tmp_path: Path) -> None:
    """A model whose only input is the column of tags gave every word of plain text the same label."""
    model = tmp_path / "m.tw"
    found = run("train", folder / "three", "--inputs", "1", "--out", model, "--set", "max_iterations=3")
    assert (found.code, "--inputs" in found.err) == (0, False)
    message = "it begins with 'Jan', 'slaapt', expected values as in training, such as "
    refused(run("tag", model, stdin="Jan slaapt\n"), message, "(--format plain)")
    assert run("tag", model, "--format", "plain", stdin="Jan slaapt\n").code == 0
    assert run("tag", model, stdin="DT NN VBZ\n").out.count("/") == 3
    assert run("tag", model, folder / "three").out.count("B-NP") > 100


@pytest.mark.parametrize("learner", ["hmm", "crf"])
def test_two_words_are_not_a_word_and_its_column_for_a_model_that_cannot_tell(
    run: Run, rows: Rows, tmp_path: Path, learner: str
) -> None:
    """An HMM looks at words alone; of lemmas, most are new. So the values of a column do not tell what it is."""
    number = iter(range(10**6))
    write(tmp_path / "x", rows, lambda word, tag, label: f"{word} lemma{next(number)} {label}")
    model = tmp_path / "m.tw"
    quick = ["--set", "max_iterations=1"] if learner == "crf" else []
    assert run("train", tmp_path / "x", "--out", model, "--learner", learner, *quick).code == 0
    for text in ("Jan slaapt\n", "Jan slaapt\nHij niet\n", "Jan slaapt .\n"):
        message = f"found {text.splitlines()[0]!r}, expected 2 columns for each word, as in training, and a blank line"
        refused(run("tag", model, stdin=text), message, "(--format columns)")
        assert run("tag", model, "--format", "columns", stdin=text).out.count("\n\n") == 1
    header = "# global.columns = WORD LEMMA\n"
    for text in ("Jan slaapt\nHij niet\n\n", "Jan\tslaapt\n", f"{header}Jan slaapt\n"):
        found = run("tag", model, stdin=text)
        assert (found.code, found.err) == (0, ""), found.err


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_where_there_is_nothing_no_columns_are_missing(run: Run, folder: Path, text: str) -> None:
    assert run("tag", folder / "three.tw", stdin=text) == (0, "", "")


def test_lines_of_different_widths_are_not_accepted_together(run: Run, folder: Path) -> None:
    text = "a DT c d e f g h\nx NN z\n\n"
    found = run("tag", folder / "three.tw", "--format", "columns", stdin=text)
    assert (found.code, found.out) == (1, "")
    assert "note: <stdin>:1: found 8 columns, the training file had 3; the inputs are taken from 0 and 1" in found.err
    assert "error: <stdin>:2: found 3 columns in 'x NN z', expected 8 as on the first line" in found.err


@pytest.mark.parametrize("name", ["words", "plain", "slashed", "under"])
def test_input_is_checked_against_the_columns_of_training_whatever_the_format(
    run: Run, folder: Path, name: str
) -> None:
    refused(run("tag", folder / "three.tw", folder / name), COLUMNS_MISSING)
    for format in ("plain", "slashed"):
        refused(run("tag", folder / "three.tw", folder / name, "--format", format), COLUMNS_MISSING)
    if name == "words":
        message = "expected the input columns of training (0, 1): column 1 is missing; add it, or say which"
        refused(run("tag", folder / "three.tw", folder / name, "--format", "columns"), "found 1 column", message)


def test_evaluate_names_the_columns_that_are_missing(run: Run, folder: Path) -> None:
    refused(
        run("evaluate", folder / "three.tw", folder / "pairs"),
        "pairs:1: found 2 columns", "expected 3 as in training, with the label in column 2; add it, or say which",
    )  # fmt: skip
    refused(run("evaluate", folder / "three.tw", folder / "slashed"), COLUMNS_MISSING)
    refused(run("evaluate", folder / "three.tw", folder / "words"), "column 1 is missing")


@pytest.mark.parametrize("more", [[], ["--report", "page"]])
def test_evaluate_refuses_other_values_than_those_of_training(
    run: Run, rows: Rows, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    """Lemmas in the place of tags lowered all scores without a word."""
    monkeypatch.chdir(tmp_path)
    other = write(tmp_path / "other", rows, lambda word, _, label: f"{word} {word.lower()}x {label}")
    message = "other: column 1 begins with '``x', 'wex', 'cax', expected values as in training, such as"
    refused(run("evaluate", folder / "three.tw", other, *more), message, "(--inputs)", "(--format columns)")
    assert run("evaluate", folder / "three.tw", other, *more, "--format", "columns").code == 0
    assert run("evaluate", folder / "three.tw", folder / "three", *more).err == ""
    other.write_text("-DOCSTART- -X- O\n\n" + (folder / "three").read_text())
    assert run("evaluate", folder / "three.tw", other, *more).code == 0


@pytest.mark.parametrize("argv", [["train", "--dev"], ["compare", "--folds", "2", "--test"]])
def test_other_values_of_an_input_are_said(run: Run, rows: Rows, folder: Path, tmp_path: Path, argv: list[str]) -> None:
    options = ["--learner", "hmm", "--out", tmp_path / "m.tw"] if argv[0] == "train" else ["--learners", "hmm"]
    other = write(tmp_path / "other", rows, lambda word, _, label: f"{word} {word.lower()}x {label}")
    err = run(*argv, other, folder / "three", *options).err
    assert "note: other: most values of input 1 (" in err
    assert ", ...) are none of three. Right columns?" in err
    assert run(*argv, folder / "three", folder / "three", *options, "--quiet").err == ""
    assert "most values" not in run(*argv, folder / "three", folder / "three", *options).err


def test_columns_that_have_names_are_found_by_name(run: Run, folder: Path, tmp_path: Path) -> None:
    right = run("evaluate", folder / "named.tw", folder / "named", "--json").out
    turned = run("evaluate", folder / "named.tw", folder / "turned", "--json").out
    assert right[: right.index('"seconds"')] == turned[: turned.index('"seconds"')]
    text = (folder / "named").read_text().replace("WORD POS", "WORD LEMMA", 1)
    refused(
        run("tag", folder / "named.tw", stdin=text),
        "found the columns WORD LEMMA CHUNK, expected WORD and POS as in training: POS missing; add it, or say which",
    )


def test_words_and_ready_made_attributes_are_told_apart(run: Run, folder: Path, tmp_path: Path) -> None:
    for command in ("tag", "evaluate"):
        refused(run(command, folder / "pairs.tw", folder / "x.crfsuite"), "expected words as in training")
        for name in ("plain", "pairs", "three"):
            refused(run(command, folder / "crf.tw", folder / name), "found no attributes in", "as CRFsuite has them")
    message = "expected attributes that the model knows, and none of the first sentence is"
    refused(run("tag", folder / "crf.tw", folder / "dp"), message)
    assert run("tag", folder / "crf.tw", "--format", "crfsuite", stdin="x\ty\n\n").code == 0
    assert run("tag", folder / "crf.tw", folder / "x.crfsuite").err == ""
    conllu = tmp_path / "x"
    conllu.write_text("1\tThe" + "\t_" * 8 + "\n\n")
    refused(
        run("tag", folder / "crf.tw", conllu), "found words, expected ready-made attributes (crfsuite) as in training"
    )


def test_a_labelled_file_of_three_columns_is_not_taken_for_plain_text(run: Run, folder: Path) -> None:
    """It was tagged as plain text without a word."""
    found = run("tag", folder / "pairs.tw", folder / "three")
    assert found.out.splitlines()[1].split()[:3] == (folder / "three").read_text().splitlines()[1].split()
    assert len(found.out.splitlines()[1].split()) == 4
    unknown = "a b c\nd e f\ng h i\n\n"
    refused(run("tag", folder / "pairs.tw", stdin=unknown), "has 3 fields ('a b c')", "--format columns or plain")
    assert run("tag", folder / "pairs.tw", "--format", "plain", stdin=unknown).out.count("/") == 9
    assert run("tag", folder / "pairs.tw", stdin="He sleeps .\nShe sleeps .\n").out.count("/") == 6


# ---- 2: what `evaluate` recognises, `tag` recognises, or asks ----


def test_slashed_text_is_recognised_without_format(run: Run, folder: Path) -> None:
    found = run("tag", folder / "pairs.tw", folder / "slashed")
    assert (found.code, found.err) == (0, "")
    assert found.out == run("tag", folder / "pairs.tw", folder / "slashed", "--format", "slashed").out
    assert [line.count("/") for line in found.out.splitlines()] == [
        line.count("/") for line in (folder / "slashed").read_text().splitlines()
    ]
    assert run("tag", folder / "pairs.tw", folder / "brown").out.split() == found.out.split()


def test_tag_asks_where_tags_are_not_those_of_the_model(run: Run, folder: Path) -> None:
    for text in ("Al/xx sleeps/yy\n", "a/b c/d\ne/f g/h\n"):
        refused(run("tag", folder / "pairs.tw", stdin=text), "every token looks like word/TAG", "--format slashed")
        assert run("tag", folder / "pairs.tw", "--format", "plain", stdin=text).code == 0
        assert "/xx" not in run("tag", folder / "pairs.tw", "--format", "slashed", stdin=text).out
    refused(run("tag", folder / "pairs.tw", folder / "under"), "word_TAG", "--separator '_'")
    assert run("tag", folder / "pairs.tw", stdin="The dog and/or cat\n").out.count("/") == 5


def test_tag_asks_where_many_words_have_tags_of_another_corpus(run: Run, folder: Path) -> None:
    """Ten words with the same sign in them are no chance; two may be."""
    for text in ("the|at old|jj house|nn\n" * 4, "the|at\nold|jj\n" * 5, "the_at old_jj\n" * 5):
        message = f"every token looks like word{text[3]}TAG ('{text[:6]}'), but hardly a tag is a label of the model"
        refused(run("tag", folder / "pairs.tw", stdin=text), message, "--format slashed --separator")
        found = run("tag", folder / "pairs.tw", "--separator", text[3], stdin=text)
        assert (found.code, found.out.count(text[3])) == (0, text.count(text[3]))
    most = "<s id=1>\nthe_at old_jj house_nn\n" * 4
    refused(run("tag", folder / "pairs.tw", stdin=most), "most tokens look like word_TAG ('<s'), but hardly a tag")
    assert run("tag", folder / "pairs.tw", stdin="New_York grew_up\n").code == 0


# ---- 3: odd choices are said ----


@pytest.mark.parametrize("command", ["train", "compare"])
def test_heads_are_not_learned_as_labels_without_a_note(run: Run, folder: Path, tmp_path: Path, command: str) -> None:
    more = ["--out", tmp_path / "m.tw"] if command == "train" else ["--learners", "hmm", "--folds", "2"]
    quick = ["--set", "max_iterations=1"] if command == "train" else []
    err = run(command, folder / "dp", *more, *quick).err
    assert "note: dp: the labels are those of column 2, mostly numbers (" in err
    assert "--column chooses another" in err
    assert "--column" not in run(command, folder / "dp", "--column", "2", *more, *quick).err
    assert "--column" not in run(command, folder / "three", *more, *quick).err


@pytest.mark.parametrize("argv", [["train", "--dev"], ["compare", "--folds", "2", "--test"]])
def test_labels_of_another_column_are_said(run: Run, folder: Path, tmp_path: Path, argv: list[str]) -> None:
    """Held-out sentences of other labels had an accuracy of 0, and nothing said why."""
    options = ["--learner", "hmm", "--out", tmp_path / "m.tw"] if argv[0] == "train" else ["--learners", "hmm"]
    (tmp_path / "x.conllu").write_text("1\tThe\t_\tDET\tDT" + "\t_" * 5 + "\n\n")
    found = run(*argv, tmp_path / "x.conllu", folder / "pairs", *options)
    assert "note: x.conllu: most labels (DET) are none of pairs and count as errors. Is this the right" in found.err
    assert run(*argv, folder / "slashed", folder / "pairs", *options).err == ""


def test_other_odd_choices_are_said(run: Run, rows: Rows, tmp_path: Path) -> None:
    quick = ["--learner", "hmm", "--out", tmp_path / "m.tw"]
    number = iter(range(10**6))
    write(tmp_path / "distinct", rows, lambda word, *_: f"{word}\tx{next(number)}")
    assert "the labels are those of column 1, nearly all distinct" in run("train", tmp_path / "distinct", *quick).err
    write(tmp_path / "many", rows, lambda word, *_: f"{word}\tx{next(number) % 400}")
    assert "the labels are those of column 1, 400 labels (" in run("train", tmp_path / "many", *quick).err
    write(tmp_path / "ids", rows, lambda word, tag, _: f"{next(number)}\t{word}\t{tag}")
    err = run("train", tmp_path / "ids", *quick).err
    assert "the words are those of column 0, mostly numbers; --inputs chooses others" in err
    assert run("train", tmp_path / "ids", *quick, "--quiet").err == ""


# ---- 6: --format holds for all files, and is remembered ----


def test_the_format_given_in_training_is_that_of_dev_test_and_evaluate(run: Run, tmp_path: Path) -> None:
    """The file looks like columns: its first line has a tab."""
    text = "The/DT\tdog/NN\nIt/PRP barks/VBZ\n" * 10
    (tmp_path / "a").write_text(text)
    (tmp_path / "b").write_text(text)
    model, quick = tmp_path / "m.tw", ["--set", "max_iterations=3"]
    found = run("train", tmp_path / "a", "--format", "slashed", "--dev", tmp_path / "b", "--out", model, *quick)
    assert (found.code, "held out: accuracy" in found.out) == (0, True), found.err
    compared = run("compare", tmp_path / "a", "--format", "slashed", "--test", tmp_path / "b", "--learners", "hmm")
    assert compared.code == 0
    assert "60 tokens" in run("evaluate", model, tmp_path / "b").out.replace("40", "60")
    assert '"tokens": 40' in run("evaluate", model, tmp_path / "b", "--json").out
    (tmp_path / "c").write_text("The DT\ndog NN\n\n")
    assert '"tokens": 2,' in run("evaluate", model, tmp_path / "c", "--format", "columns", "--json").out


# ---- 7: corpora as they are published ----


def test_raw_brown_is_recognised(run: Run, folder: Path, tmp_path: Path) -> None:
    """Blank lines, and a tab in front of every sentence."""
    assert (folder / "brown").read_text().startswith("\n\n\t")
    (tmp_path / "other").write_text((folder / "brown").read_text().replace("/", "|"))
    cure = "column 0 is empty, expected a field; if these are words with their tags, say what stands between: "
    refused(run("train", tmp_path / "other", "--out", tmp_path / "m.tw"), f"other:3: {cure}--separator '|'")
    found = run("train", folder / "brown", "--out", tmp_path / "m.tw", "--set", "max_iterations=3")
    assert found.code == 0
    assert " in 80 sentences of brown " in found.out
    assert run("evaluate", tmp_path / "m.tw", folder / "brown").out.split()[3] == "80"


def test_words_and_tags_with_another_separator(run: Run, folder: Path) -> None:
    model = folder / "under.tw"
    assert load(model).labels_ == load(folder / "pairs.tw").labels_
    found = run("tag", model, stdin="The_DT dog_NN\n")
    assert (found.out, found.err) == ("The_DT dog_NN\n", "")
    assert run("tag", model, stdin="The dog\n").out == "The_DT dog_NN\n"
    assert '"tokens": ' in run("evaluate", model, folder / "under", "--json").out
    assert run("tag", folder / "pairs.tw", "--separator", "|||", stdin="The dog\n").out == "The|||DT dog|||NN\n"
    assert run("tag", model, "--marginals", stdin="dog\nThe dog\n").out.count("_") == 6
    refused(
        run("evaluate", folder / "pairs.tw", folder / "under", "--quiet"), "say what stands between: --separator '_'"
    )
    assert run("tag", model, "--separator", "a b", stdin="").code == 2
    refused(run("tag", model, "--separator", "_", "--format", "columns", stdin="a\n"), "leave the separator out")


def test_lines_of_one_word_are_said_to_be_sentences(run: Run, rows: Rows, folder: Path, tmp_path: Path) -> None:
    """Some corpora have a word and its tag on each line: every word was learned as a sentence."""
    write(tmp_path / "words", rows, lambda word, tag, _: f"{word}_{tag}", "\n", "\n")
    quick = ["--learner", "hmm", "--out", tmp_path / "m.tw"]
    cure = "if these are words with their tags, say what stands between: --separator '_'"
    refused(run("train", tmp_path / "words", *quick), "words:1: no input columns", cure)
    refused(
        run("evaluate", train(tmp_path / "m.tw", folder / "slashed"), tmp_path / "words"), "words:1: no input", cure
    )
    found = run("train", tmp_path / "words", "--separator", "_", *quick)
    assert "sentences has one token, so nothing can be learned from neighbours; slashed: one sentence per" in found.err
    assert "write columns, with a blank line after each sentence" in found.err
    assert run("train", folder / "slashed", *quick).err == ""
    (tmp_path / "pairs").write_text(2 * (folder / "pairs").read_text().replace("\n\n", "\n"))
    found = run("train", tmp_path / "pairs", *quick)
    assert "note: pairs: a sentence has 2,7" in found.err
    assert found.err.endswith(" tokens; columns: blank line after a sentence\n")


def test_the_word_slash_with_the_tag_slash(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("He/PRP ///  she/PRP\nand/CC/or/CC 1/2/CD ,//\n" * 5)
    assert next(read_sentences(path)).labels == ["PRP", "/", "PRP"]
    model = train(tmp_path / "m.tw", path)
    assert "/" in load(model).labels_
    assert run("tag", model, path).out == path.read_text().replace("///  ", "/// ").replace("CC or", "CC/or")
    assert run("tag", model, "--marginals", path).code == 0


def test_all_commands_that_read_files_know_encoding_and_separator() -> None:
    for name in ("train a --out m", "tag m", "evaluate m a", "compare a", "clusters a --out c"):
        argv = [*name.split(), "--encoding", "latin-1", "--separator", "_", "--format", "slashed"]
        assert options.make_parser().parse_args(argv).encoding == "latin-1"


@pytest.fixture
def parts(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The slashed sentences in three files, the last one without its last line end; we are in their folder."""
    lines = (folder / "slashed").read_text().splitlines(keepends=True)
    for name, part in (("a1", lines[:30]), ("a2", lines[30:60]), ("a3", lines[60:])):
        (tmp_path / name).write_text("".join(part))
    (tmp_path / "a1").write_text("".join(lines[:30]).rstrip("\n"))
    (tmp_path / "all").write_text("".join(lines))
    monkeypatch.chdir(tmp_path)
    return ["a1", "a2", "a3"]


@pytest.mark.parametrize("pattern", [False, True])
def test_several_files_and_patterns(run: Run, folder: Path, parts: list[str], pattern: bool) -> None:
    files, model, quick = (["a?"] if pattern else parts), folder / "pairs.tw", ["--set", "max_iterations=3", "--json"]
    os.mkdir("ax")  # a pattern means files
    assert run("tag", model, *files).out == run("tag", model, "all").out
    for more in ([], ["--report", "page"]):
        several, one = (run("evaluate", model, *names, "--json", *more).out for names in (files, ["all"]))
        assert several[: several.index('"seconds"')] == one[: one.index('"seconds"')]
    several, one = (run("train", *names, "--out", "m.tw", *quick).out for names in (files, ["all"]))
    assert json.loads(several)["parameters"] == json.loads(one)["parameters"]
    assert load("m.tw").info_["file"] == "all"
    run("train", *files, "--out", "m.tw", *quick)
    assert load("m.tw").info_["file"] == "a1 and 2 more files"
    several, one = (run("compare", *names, "--learners", "hmm", "--folds", "2").out for names in (files, ["all"]))
    assert several.split("\n")[0] == one.split("\n")[0].replace("all:", "a1 and 2 more files:")
    for names in (files, ["all"]):
        assert run("clusters", *names, "--out", f"{len(names)}.clusters", "--number", "4", "--json").code == 0
    assert '"tokens": 0' not in run("train", "all", "--dev", "a*", "--out", "m.tw", *quick).out if pattern else True


def test_columns_of_several_files_have_one_header(run: Run, folder: Path, tmp_path: Path) -> None:
    model, named = folder / "named.tw", folder / "named"
    once, twice = run("tag", model, named), run("tag", model, named, named)
    assert twice.out == once.out + once.out.partition("\n")[2]
    assert run("tag", model, stdin=twice.out).code == 0
    (tmp_path / "x").write_text("# global.columns = WORD POS WHAT\nThe\tDT\tx\n\n")
    found = run("tag", model, named, tmp_path / "x")
    assert (found.code, found.out) == (1, once.out)
    assert "x: line 1 names other columns than that of" in found.err


def test_files_that_are_not_alike_are_named(run: Run, folder: Path, tmp_path: Path) -> None:
    pairs, plain, three = folder / "pairs", folder / "plain", folder / "three"
    out = ["--out", tmp_path / "m.tw"]
    refused(run("train", pairs, three, *out), f"{three}: found 3 columns", "expected 2 columns", f"as in {pairs}")
    refused(run("tag", folder / "pairs.tw", pairs, plain, "-o", tmp_path / "o"), f"{plain}: found plain text, unlike")
    assert not any(tmp_path.iterdir())
    refused(run("train", pairs, folder / "lines.jsonl", *out), "lines.jsonl: found jsonl text; expected 2 columns")
    mixed = run("tag", folder / "pairs.tw", plain, folder / "slashed")
    assert mixed.out.splitlines()[:80] == mixed.out.splitlines()[80:]


@pytest.mark.parametrize("command", ["train", "tag", "evaluate", "compare", "clusters"])
def test_one_of_several_files_that_cannot_be_read_is_named(
    run: Run, folder: Path, parts: list[str], command: str
) -> None:
    first = [folder / "pairs.tw"] if command in ("tag", "evaluate") else []
    more = {"train": ["--out", "m"], "clusters": ["--out", "m"], "tag": ["-o", "m"]}.get(command, [])
    Path("bad").write_bytes(b"The/DT\nd\xffg/NN\n")
    Path("cut").write_bytes(gzip.compress(Path("all").read_bytes())[:-20])
    os.mkdir("folder")
    for name, message in (
        ("bad", "bad:2: found byte 0xff"),
        ("cut", "cut: the gzip data ends too early"),
        ("none", "none: no such file; check the path"),
        ("no*", "no*: no file has such a name; check the pattern"),
        ("folder", "folder: found a directory, expected a file; name files in it, such as 'folder/*'"),
    ):
        refused(run(command, *first, *parts, name, *more), message)
        assert not Path("m").exists()
    Path("empty").write_bytes(b"")
    found = run(command, *first, *parts, "empty", *more)
    if command in ("train", "evaluate", "compare"):
        refused(found, "empty: found no sentences")
        refused(run(command, *first, "empty", *parts, *more), "empty: found no sentences")
    else:
        assert found.code == 0


def test_a_file_of_another_format_is_not_scored_with_the_others(run: Run, folder: Path, parts: list[str]) -> None:
    """A pattern may mean a list of files too: its lines were scored as words and labels."""
    model = folder / "pairs.tw"
    Path("a4").write_text("a1 news\na2 fiction\n")
    message = "a4: found columns text, unlike a1 (slashed); leave it out, or name the format (--format)"
    Path("all").unlink()
    refused(run("evaluate", model, "a*"), message)
    refused(run("evaluate", model, "a*", "--report", "page"), message)
    refused(run("train", "a1", "--dev", "a*", "--out", "m"), message)
    refused(run("evaluate", model, "a*", "--format", "slashed"), "a4:1: found the token 'a1', expected word/TAG")


def test_clusters_are_not_those_of_words_with_their_tags(run: Run, folder: Path, parts: list[str]) -> None:
    """Without a model to know the tags, `The/DT` was taken for a word."""
    clusters = ["--out", "c", "--number", "4"]
    under = Path("all").read_text().replace("/", "_")
    Path("under").write_text(under)
    Path("one").write_text("\n".join(under.split()))
    Path("some").write_text(Path("all").read_text().replace("./.", "."))
    for name, mark in (("all", "/"), ("some", "/"), ("under", "_"), ("one", "_")):
        if name != "all":
            message = f"{name}: most tokens look like word{mark}TAG"
            refused(run("clusters", name, *clusters), message, f"--format slashed --separator {mark!r}")
        assert run("clusters", name, *clusters, *([] if name == "all" else ["--separator", mark])).code == 0
        assert "\tThe\t" in Path("c").read_text()
    assert run("clusters", "all", *clusters, "--format", "plain").code == 0
    assert "\tThe/DT\t" in Path("c").read_text()
    Path("text").write_text("He and/or she\nNew_York is large\n")
    assert run("clusters", "text", *clusters).code == 0


def test_standard_input_is_one_of_several_files_once(run: Run, folder: Path, parts: list[str]) -> None:
    model, text = folder / "pairs.tw", Path("a2").read_text()
    assert run("tag", model, "a1", "-", "a3", stdin=text).out == run("tag", model, *parts).out
    refused(run("tag", model, "-", "a1", "-", stdin=text), "standard input: it is named twice")


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_packed_files_are_read_and_written(
    run: Run, folder: Path, tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    model, plain, packed = folder / "pairs.tw", folder / "plain", tmp_path / "packed"
    packed.write_bytes(pack(plain.read_bytes()))
    expected = run("tag", model, plain).out
    assert run("tag", model, packed).out == run("tag", model, stdin=packed.read_bytes()).out == expected
    out = tmp_path / f"out.{ending}"
    assert run("tag", model, plain, "-o", out).code == 0
    unpacked = {"gz": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}[ending](out.read_bytes())
    assert unpacked.decode() == expected
    assert run("evaluate", model, out).code == 0
    clusters = tmp_path / f"words.{ending}"
    assert run("clusters", packed, "--out", clusters, "--number", "4").code == 0
    assert clusters.read_bytes()[:2] == pack(b"")[:2]
    again = run("train", out, "--clusters", clusters, "--out", tmp_path / "m.tw", "--set", "max_iterations=1")
    assert again.code == 0


# ---- JSON lines ----


def test_json_lines_go_through_every_command(run: Run, folder: Path, tmp_path: Path) -> None:
    """They were taken for plain text, and every piece of JSON was tagged as a word."""
    data, model, quick = folder / "lines.jsonl", tmp_path / "m.tw", ["--set", "max_iterations=12"]
    more = ["--column", "pos", "--out", model]
    refused(run("train", data, "--out", model), "lines.jsonl:1: found several lists that may be labels among the keys")
    assert run("train", data, *more, *quick, "--dev", data).code == 0
    assert load(model).labels_ == load(folder / "pairs.tw").labels_
    files = (model, data), (folder / "pairs.tw", folder / "pairs")
    scores = [run("evaluate", *names, "--json").out for names in files]
    assert scores[0].partition('"seconds"')[0] == scores[1].partition('"seconds"')[0]
    found = run("tag", model, stdin=data.read_bytes())
    labels = [line.split()[-1] for line in run("tag", folder / "pairs.tw", folder / "words").out.split("\n") if line]
    records = [json.loads(line) for line in found.out.splitlines()]
    assert [label for record in records for label in record["pos"]] == labels
    assert [[*record] for record in records] == [["id", "tokens", "pos", "chunks"]] * 80
    assert [*json.loads(run("tag", folder / "pairs.tw", data).out.split("\n")[0])][-1] == "tags"
    assert run("tag", model, stdin="He sleeps .\n").out.count("/") == 3
    assert run("compare", data, "--column", "pos", "--learners", "hmm", "--folds", "2").code == 0
    words, lists = (run("clusters", folder / name, "--out", tmp_path / "c").out for name in ("words", "lines.jsonl"))
    assert words.split(" clusters")[0] == lists.split(" clusters")[0]
    refused(run("tag", folder / "three.tw", data), "expected 2 lists for each sentence, as in training (0, 1)")
    assert run("tag", folder / "three.tw", data, "--inputs", "tokens,pos").code == 0
    refused(run("tag", model, stdin=f"[{found.out.splitlines()[0]}]"), "<stdin>:1: found", "jq -c '.[]'")


# ---- options between names ----


def test_options_may_stand_between_names(run: Run, folder: Path) -> None:
    model, plain = folder / "pairs.tw", folder / "plain"
    expected = run("tag", model, plain)
    assert run("tag", model, "--threads", 2, plain) == run("tag", "--threads", 2, model, plain) == expected
    assert run("evaluate", model, "--json", folder / "slashed").code == 0
    assert run("tag", model, "--bogus", plain).code == 2
    assert run("tag", "--threads", 2).code == 2


# ---- Python models and files ----


def test_a_model_from_python_knows_its_columns(run: Run, rows: Rows, folder: Path, tmp_path: Path) -> None:
    X = [[(word, tag) for word, tag, _ in part] for part in rows]
    HMM().fit(X, [[label for *_, label in part] for part in rows]).save(tmp_path / "m.tw")
    assert run("tag", tmp_path / "m.tw", folder / "pairs").code == 0
    assert run("tag", tmp_path / "m.tw", folder / "three").code == 0
    assert run("evaluate", tmp_path / "m.tw", folder / "three").code == 0
    refused(run("tag", tmp_path / "m.tw", folder / "plain"), COLUMNS_MISSING)
    refused(run("evaluate", tmp_path / "m.tw", folder / "words"), "column 1 is missing")
