"""Wapiti, by its command line. Settings: program, attributes, iterations, threads. The dev set decides when it stops.

The attributes are written as its patterns. They count bytes where ours count characters (Spanish endings with an accent
differ), and flags are attributes with the value true or false. It has no library: rates and start-up are those of the
program, which reads and writes files.
"""

import json
import re
import subprocess
import time
from pathlib import Path

import job

SPELLING = [
    "u:word=%x[0,0]",
    "u:lower=%X[0,0]",
    *[f'u:prefix{n}=%m[0,0,"^{"." * n}"]' for n in range(1, 5)],
    *[f'u:suffix{n}=%m[0,0,"{"." * n}$"]' for n in range(1, 5)],
    'u:capitalised=%t[0,0,"^\\u"]',
    'u:all_capitals=%t[0,0,"^\\u*$"]',
    'u:has_digit=%t[0,0,"\\d"]',
    'u:has_hyphen=%t[0,0,"-"]',
    'u:has_dot=%t[0,0,"\\."]',
    *[f"u:word{k}=%x[{k},0]" for k in (-2, -1, 1, 2)],
]
TAGS = [f"u:tag{k}=%x[{k},1]" for k in range(-2, 3)]


def several(name, column, places):
    return f"u:{name}{places[0]}..{places[-1]}=" + "/".join([f"%x[{k},{column}]" for k in places])


CHUNK = [f"u:word{k}=%x[{k},0]" for k in range(-2, 3)] + [several("word", 0, (k, k + 1)) for k in (-1, 0)] + TAGS
CHUNK += [several("tag", 1, (k, k + 1)) for k in range(-2, 2)]
CHUNK += [several("tag", 1, (k, k + 1, k + 2)) for k in range(-2, 1)]
PATTERNS = {"plain": SPELLING, "ner": SPELLING + TAGS, "chunk": CHUNK}


def train(order, X, y):
    settings = order["settings"]
    folder = Path(order["model"]).parent
    names = [str(folder / name) for name in ("wapiti.pattern", "wapiti.train", "wapiti.dev")]
    Path(names[0]).write_text("\n".join([*PATTERNS[settings["attributes"]], "b", ""]))
    job.write_columns(X, names[1], y)
    dev = job.read(order, "dev")
    job.write_columns(dev[0], names[2], dev[1])
    command = [settings["program"], "train", "-p", names[0], "-d", names[2], "-t", str(settings["threads"]), "-c"]
    command += ["-i", str(settings["iterations"]), names[1], order["model"]]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    whole = time.perf_counter() - began
    passes = [float(found) for found in re.findall(r"time=([\d.]+)s/", done.stderr + done.stdout)]
    return {"seconds": sum(passes), "reading_seconds": whole - sum(passes), "pass_seconds": passes}


def predict(order):
    labels = {}
    for part in ("dev", "test"):
        X, _ = job.read(order, part)
        given, found = (f"{order['output']}.{end}" for end in ("in", "out"))
        job.write_columns(X, given)
        program = order["settings"]["program"]
        subprocess.run([program, "label", "-m", order["model"], "-l", given, found], capture_output=True, check=True)
        lines = iter(Path(found).read_text().splitlines())
        labels[part] = []
        for sentence in X:
            labels[part].append([next(lines).strip() for _ in sentence])
            next(lines, None)
    Path(order["output"]).write_text(json.dumps(labels))
    return {}


if __name__ == "__main__":
    job.run_program(train, predict)
