"""The stored form of a decoder's chain: scores of label pairs and trigrams, and the tag dictionary.

chain        transition [Y, Y], start [Y], stop [Y]; trigrams of second order: keys and weights, zeros left out
dictionary   the label set of every known word, the sizes of the sets and their labels
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagwright.attributes.lexicon import TagDictionary
from tagwright.chain.trigrams import Trigrams, check_size
from tagwright.encode.encoder import Encoder
from tagwright.errors import ModelFileError, ParameterError
from tagwright.learners._decoder import Decoder, Scores
from tagwright.model_file import restore_pointers

Arrays = dict[str, Any]
Learner = Any  # a SequenceTagger; _base.py, where that is, imports this file by way of _stored.py
PARTS = ("transition", "start", "stop")


def store_chain(decoder: Decoder, arrays: Arrays) -> None:
    """Everything of a decoder but its scores."""
    for name, part in zip(PARTS, decoder.chain_scores, strict=True):
        arrays[f"chain.{name}"] = part
    if decoder.trigrams is not None:
        used = decoder.trigrams.weights != 0
        arrays["trigrams.keys"] = decoder.trigrams.keys[used].astype(np.uint32)
        arrays["trigrams.weights"] = decoder.trigrams.weights[used]
    if decoder.dictionary is not None:
        arrays["dictionary.sets_of"] = decoder.dictionary.sets_of.astype(np.uint32)
        arrays["dictionary.sizes"] = decoder.dictionary.sizes.astype(np.uint16)
        arrays["dictionary.labels"] = decoder.dictionary.labels


def restore_chain(model: Learner, scores: Scores, arrays: Arrays) -> Decoder:
    """The running decoder of a stored model whose labels and encoder are there already."""
    chain = [arrays[f"chain.{name}"].astype(np.float64) for name in PARTS]
    Y = len(model.labels_)
    if [part.shape for part in chain] != [(Y, Y), (Y,), (Y,)]:
        raise ModelFileError("the chain does not fit the labels")
    trigrams = _restore_trigrams(Y, scores, arrays) if "trigrams.keys" in arrays else None
    dictionary = _restore_dictionary(Y, model.encoder_, arrays) if "dictionary.sets_of" in arrays else None
    decoder: Decoder = model.decoder_type(scores, *chain, dictionary=dictionary, trigrams=trigrams)
    return decoder


def _restore_trigrams(n_labels: int, scores: Scores, arrays: Arrays) -> Trigrams:
    keys, weights = arrays["trigrams.keys"].astype(np.int64), arrays["trigrams.weights"].astype(np.float64)
    try:
        check_size(n_labels, scores.dtype)
    except ParameterError as error:
        raise ModelFileError(str(error)) from error
    ascending = keys.ndim == 1 and (np.diff(keys) > 0).all()
    ascending = ascending and 0 <= keys.min(initial=0) <= keys.max(initial=0) < n_labels**3
    if not ascending or keys.shape != weights.shape:
        raise ModelFileError("the label trigrams do not fit the labels")
    return Trigrams(n_labels, keys, weights)


def _restore_dictionary(n_labels: int, encoder: Encoder, arrays: Arrays) -> TagDictionary:
    sets_of, labels = arrays["dictionary.sets_of"].astype(np.int32), arrays["dictionary.labels"].astype(np.uint16)
    sizes = arrays["dictionary.sizes"].astype(np.int64)
    pointers = restore_pointers(sizes, len(labels), "the tag dictionary does not fit the words and labels")
    source = encoder.word_source
    fits = source is not None and sets_of.shape == (encoder.columns[source].n_known,)
    fits = fits and 0 <= sets_of.min(initial=0) <= sets_of.max(initial=0) < len(sizes) and (sizes > 0).all()
    rising = labels[1:] > labels[:-1]
    if not fits or labels.ndim != 1 or labels.max(initial=0) >= n_labels:
        raise ModelFileError("the tag dictionary does not fit the words and labels")
    rising[pointers[1:-1] - 1] = True  # from one set to the next
    if source is None or not rising.all():
        raise ModelFileError("the tag dictionary does not fit the words and labels")
    return TagDictionary(source, sets_of, pointers, labels)
