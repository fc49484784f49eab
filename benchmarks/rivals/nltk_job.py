"""NLTK's PerceptronTagger and TnT, with their own features. Settings: algorithm, epochs. Models are pickled."""

import pickle
import time

import job


def train(order, X, y):
    settings = order["settings"]
    sentences = [list(zip(words, labels)) for words, labels in zip(X, y)]
    if settings["algorithm"] == "tnt":
        from nltk.tag.tnt import TnT

        model = TnT()
        epochs, options = 0, {}
    else:
        from nltk.tag.perceptron import PerceptronTagger

        model = PerceptronTagger(load=False)
        epochs = settings["epochs"]
        options = {"nr_iter": epochs}
    began = time.perf_counter()
    model.train(sentences, **options)
    seconds = time.perf_counter() - began
    kept = model if epochs == 0 else (model.model.weights, model.tagdict, model.classes)
    with open(order["model"], "wb") as file:
        pickle.dump(kept, file, protocol=5)
    return {"seconds": seconds, "reading_seconds": 0.0, "pass_seconds": [seconds / epochs] if epochs else []}


def load(order):
    with open(order["model"], "rb") as file:
        kept = pickle.load(file)
    if isinstance(kept, tuple):
        from nltk.tag.perceptron import PerceptronTagger

        model = PerceptronTagger(load=False)
        model.model.weights, model.tagdict, model.classes = kept
        model.model.classes = model.classes
    else:
        model = kept
    return lambda words: [label for _, label in model.tag(words)]


if __name__ == "__main__":
    job.run(train, load)
