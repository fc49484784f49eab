"""UDPipe 1 (ufal.udpipe): its tagger, MorphoDiTa, on the XPOS column with its own features. Settings: iterations.

The dev set is its held-out data.
"""

import time

import job
import ufal.udpipe as udpipe

OPTIONS = "models=1;templates_1=tagger;guesser_suffix_rules_1=10;use_lemma_1=0;provide_lemma_1=0;use_xpostag_1=1"
OPTIONS += ";provide_xpostag_1=1;use_feats_1=0;provide_feats_1=0;iterations_1={}"


def sentence_of(words, labels=None):
    sentence = udpipe.Sentence()
    for t, word in enumerate(words):
        added = sentence.addWord(word)
        if labels:
            added.xpostag = added.upostag = labels[t]
            added.lemma = "_"
    return sentence


def sentences_of(X, y):
    found = udpipe.Sentences()
    for words, labels in zip(X, y):
        found.append(sentence_of(words, labels))
    return found


def train(order, X, y):
    data = sentences_of(X, y), sentences_of(*job.read(order, "dev"))
    iterations = order["settings"]["iterations"]
    error = udpipe.ProcessingError()
    began = time.perf_counter()
    model = udpipe.Trainer.train(
        "morphodita_parsito", *data, udpipe.Trainer.NONE, OPTIONS.format(iterations), udpipe.Trainer.NONE, error
    )
    seconds = time.perf_counter() - began
    if error.occurred():
        raise SystemExit(error.message)
    with open(order["model"], "wb") as file:
        file.write(model)
    return {"seconds": seconds, "reading_seconds": 0.0, "pass_seconds": [seconds / iterations]}


def load(order):
    model = udpipe.Model.load(order["model"])

    def tag(words):
        sentence = sentence_of(words)
        model.tag(sentence, udpipe.Model.DEFAULT)
        return [word.xpostag for word in list(sentence.words)[1:]]

    return tag


if __name__ == "__main__":
    job.run(train, load)
