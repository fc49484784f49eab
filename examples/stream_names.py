"""Find names in text as it arrives on standard input, and print them as JSON lines.

echo "Maria Lopez flew from Lisbon to Oslo ." | python examples/stream_names.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tagwright import CRF, Tagger, datasets

MODEL = Path("names.tw")

if not MODEL.exists():
    X, y = datasets.sample("entity", inputs=["word"])
    CRF("ner", well_formed=True, n_jobs=-1).fit(X, y).save(MODEL)

tagger = Tagger(MODEL)
for line in sys.stdin:
    tokens = line.split()
    if tokens:
        names = [[span.type, " ".join(tokens[span.start : span.end])] for span in tagger.find_spans(tokens)]
        print(json.dumps({"text": line.strip(), "names": names}, ensure_ascii=False), flush=True)
