"""sklearn-crfsuite's package on our engine: the same names, parameters, methods and attributes.

    from tagwright import sklearn_crfsuite                  # instead of: import sklearn_crfsuite
    crf = sklearn_crfsuite.CRF(algorithm="lbfgs", c1=0.1, c2=0.1).fit(X, y); crf.predict(X)

    estimator.py      CRF ─► pycrfsuite.Trainer ─► bytes of a model ─► pycrfsuite.Tagger
    _fileresource.py  these bytes, in memory or in the user's file
    trainer.py        the trainer that prints a line for each iteration
    metrics.py        scores of items and of whole sequences; scorers.py: the same for scikit-learn's searches

It follows version 0.5. Pickles of the original are read too, if sklearn_crfsuite stands for this package
(`tagwright.as_crfsuite`).
"""

from tagwright.sklearn_crfsuite.estimator import CRF

__all__ = ["CRF"]

MODULES = ("_fileresource", "estimator", "metrics", "scorers", "trainer", "utils")
"""Those that programs and pickles import from."""
