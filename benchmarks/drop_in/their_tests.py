"""The own tests of python-crfsuite or sklearn-crfsuite, run with our modules in the place of theirs.

    git clone https://github.com/scrapinghub/python-crfsuite
    pip download --no-deps --no-binary :all: sklearn-crfsuite==0.5.0; tar xf sklearn_crfsuite-0.5.0.tar.gz
    python -m benchmarks.drop_in.their_tests FOLDER [--json FILE]

Prints how many pass, and which do not; exit code 1 where one fails. It needs pytest. The tests of sklearn-crfsuite 0.3
want lists from `predict`, where version 0.5 gives arrays: twelve of them fail with version 0.5 as with ours.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from tagwright.as_crfsuite import install

EXPECTED = ("passed", "skipped", "xfailed", "xpassed")


class Outcomes:
    """A plugin that keeps what became of every test."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            expected = hasattr(report, "wasxfail")
            outcome = {"passed": "xpassed", "skipped": "xfailed"}[report.outcome] if expected else report.outcome
            self.of[report.nodeid] = outcome

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.of[report.nodeid] = "failed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="a clone, or the unpacked sources")
    parser.add_argument("--json", type=Path, help="also write the outcomes here")
    args = parser.parse_args()
    tests = args.checkout / "tests"
    if not tests.is_dir():
        parser.error(f"{tests}: there is no such folder; give a clone, or the unpacked sources")
    install()
    outcomes = Outcomes()
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", str(tests)], plugins=[outcomes])
    counts = Counter(outcomes.of.values())
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    if args.json:
        args.json.write_text(json.dumps({"counts": counts, "tests": outcomes.of}, indent=1))
    return 0 if outcomes.of and counts.keys() <= set(EXPECTED) else 1


if __name__ == "__main__":
    sys.exit(main())
