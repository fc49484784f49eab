"""python-crfsuite. Settings: attributes (a set of attributes.py), algorithm, parameters.

The time of training is that of `Trainer.train`; handing over the attributes (`append`) is told apart.
"""

import time

import attributes
import job
import pycrfsuite


def train(order, X, y):
    settings = order["settings"]
    extract = attributes.SETS[settings["attributes"]]
    trainer = pycrfsuite.Trainer(verbose=False)
    began = time.perf_counter()
    for sentence, labels in zip(X, y):
        trainer.append(extract(sentence), labels)
    read = time.perf_counter() - began
    trainer.select(settings["algorithm"])
    trainer.set_params(settings["parameters"])
    began = time.perf_counter()
    trainer.train(order["model"])
    seconds = time.perf_counter() - began
    passes = [entry["time"] for entry in trainer.logparser.iterations]
    return {"seconds": seconds, "reading_seconds": read, "pass_seconds": passes}


def load(order):
    extract = attributes.SETS[order["settings"]["attributes"]]
    attributes.forget()
    tagger = pycrfsuite.Tagger()
    tagger.open(order["model"])
    return lambda sentence: tagger.tag(extract(sentence))


if __name__ == "__main__":
    job.run(train, load)
