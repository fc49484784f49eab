"""The same model whatever the number of BLAS threads: NumPy's `@` would sum long vectors in another order."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

TRAINING = """
import sys, warnings
from tagwright import GuidedTagger, HMSVM, SequenceAdaBoost, CRF, datasets
warnings.simplefilter("ignore")
X, y = datasets.sample()
names = lambda n: [part[:n] for part in datasets.sample("entity", inputs=["word"])]
train = {
    "hmsvm": lambda: HMSVM("s3", C=0.1, random_state=0, max_iterations=4).fit(X[:30], y[:30]),
    "adaboost": lambda: SequenceAdaBoost("s1", bound="exact", power=1.0, rounds=3).fit(X, y),
    "guided": lambda: GuidedTagger("c", random_state=0, epochs=1, orders=1).fit(X[:60], y[:60], X, y),
    "crf": lambda: CRF("s1", max_iterations=5).fit(X, y),
    "spans": lambda: CRF("ner", max_iterations=15).fit(*names(99)).calibrate_spans(*[part * 20 for part in names(485)]),
}
train[sys.argv[1]]().save(sys.argv[2])
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one core")
@pytest.mark.parametrize("name", ["hmsvm", "adaboost", "guided", "crf", "spans"])
def test_any_number_of_blas_threads_gives_one_model(name: str, tmp_path: Path) -> None:
    digests = set()
    for threads in ("1", "2"):
        variables = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        command = [sys.executable, "-c", TRAINING, name, str(tmp_path / "m.tw")]
        subprocess.run(command, env={**os.environ, **variables}, check=True)
        digests.add(hashlib.sha256((tmp_path / "m.tw").read_bytes()).hexdigest())
    assert len(digests) == 1
