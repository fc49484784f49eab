"""chaine, a wrapper of CRFsuite that takes a dict a token. Settings as for crfsuite_job.py.

Its trainer tells no times of passes; handing over the attributes is told apart, as for python-crfsuite.
"""

import time

import attributes
import chaine
import job
from chaine.logging import set_verbosity


def dicts(rows):
    return [dict.fromkeys(row, True) for row in rows]


def train(order, X, y):
    settings = order["settings"]
    extract = attributes.SETS[settings["attributes"]]
    trainer = chaine.Trainer(settings["algorithm"], **settings["parameters"])._trainer
    began = time.perf_counter()
    for sentence, labels in zip(X, y):
        trainer.append(dicts(extract(sentence)), labels)
    read = time.perf_counter() - began
    began = time.perf_counter()
    trainer.train(order["model"])
    return {"seconds": time.perf_counter() - began, "reading_seconds": read, "pass_seconds": []}


def load(order):
    extract = attributes.SETS[order["settings"]["attributes"]]
    attributes.forget()
    model = chaine.Model(order["model"])
    return lambda sentence: model.predict_single(dicts(extract(sentence)))


if __name__ == "__main__":
    set_verbosity(0)
    job.run(train, load)
