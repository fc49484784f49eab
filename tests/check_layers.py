"""Check who imports whom: run by `make lint`, exit code 1 and one line for each violation.

A module may import modules of its own layer and of the layers before it, never of a later one, and never in a circle.
Imports inside functions and under `if TYPE_CHECKING` count too. Outside packages are the few listed here; every
optional one goes through compat.py. The source is only parsed, never run.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

PACKAGE = "tagwright"

# The order: each row may import itself and the rows before it. A name is a module or a folder of src/tagwright.
LAYERS = (
    (
        "errors",
        "compat",
        "atomic_file",
        "string_blob",
        "arrays",
        "_machine_code",
        "_numba_internals",
        "_jit",
        "_simd",
        "_python_lock",
        "sequence",
    ),
    ("io",),
    ("chunks", "metrics", "significance", "calibration", "plots", "model_file", "datasets"),
    ("text",),
    ("attributes",),
    ("encode",),
    ("chain",),
    ("scores",),
    ("losses",),
    ("objective",),
    ("optim",),
    ("learners",),
    ("kernels",),
    ("crfsuite",),
    ("wapiti",),
    ("pycrfsuite",),
    ("sklearn_crfsuite",),
    ("as_crfsuite",),
    ("boosting", "guided", "hmsvm"),
    ("tagger", "comparison"),
    ("",),  # tagwright/__init__.py as others import it: the public names, for the command line alone
    ("cli",),
)

# These may import any layer.
EXEMPT = (PACKAGE, f"{PACKAGE}.__main__")

# Which outside packages may be imported where (a module, or a folder with all in it). compat.py may import any.
OUTSIDE = {
    "numpy": (PACKAGE,),
    "safetensors": (f"{PACKAGE}.model_file",),
    "tqdm": (f"{PACKAGE}.optim.progress", f"{PACKAGE}.cli"),
}
OPTIONAL = f"{PACKAGE}.compat"

ROW = {name: row for row, names in enumerate(LAYERS) for name in names}


class Import(NamedTuple):
    """One name imported: `module` is the longest part of it that is a module."""

    module: str
    line: int


def check(root: Path) -> list[str]:
    """Every violation in the package whose folder is `root`, as "file:line: what and why"."""
    files = find_modules(root)
    if not files:
        return [f"{root}: no modules found"]
    violations: list[str] = []
    graph: dict[str, list[str]] = {}
    for module, file in files.items():
        try:
            imports = list(find_imports(module, file, files))
        except SyntaxError as error:
            violations.append(f"{file}:{error.lineno}: cannot be parsed: {error.msg}")
            continue
        graph[module] = sorted({imported.module for imported in imports if imported.module in files})
        for imported in imports:
            if reason := forbidden(module, imported.module):
                violations.append(f"{file}:{imported.line}: {reason}")
        if module not in EXEMPT and part_of(module) not in ROW:
            violations.append(
                f"{file}:1: {part_of(module)} stands in no layer: give it a place in {Path(__file__).name}"
            )
    return violations + [f"{root}: import circle: {' -> '.join(circle)}" for circle in find_circles(graph)]


def find_modules(root: Path) -> dict[str, Path]:
    """Module name to file; a folder's name stands for its __init__.py."""
    modules = {}
    for file in sorted(root.rglob("*.py")):
        parts = (PACKAGE, *file.relative_to(root).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


def find_imports(module: str, file: Path, modules: dict[str, Path]) -> Iterator[Import]:
    """Every import anywhere in the file, relative names resolved."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), filename=str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = resolve(package, node.level, node.module or "")
            for alias in node.names:
                name = f"{base}.{alias.name}"
                yield Import(name if name in modules else base, node.lineno)
        elif isinstance(node, ast.Call) and (name := imported_by_call(node)):
            yield Import(name, node.lineno)


def resolve(package: str, level: int, name: str) -> str:
    """`from ..name import x` inside `package`, as an absolute name."""
    if level == 0:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])


def imported_by_call(call: ast.Call) -> str:
    """The module of import_module("name") or __import__("name"), else ""."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    match call.args:
        case [ast.Constant(value=str(name)), *_] if function in ("import_module", "__import__"):
            return name
    return ""


def part_of(module: str) -> str:
    """The module or folder of the table that holds `module`; "" for the package itself."""
    return module.removeprefix(PACKAGE).removeprefix(".").partition(".")[0]


def forbidden(module: str, imported: str) -> str:
    """Why `module` may not import `imported`; "" where it may."""
    outside = imported.partition(".")[0]
    if outside != PACKAGE:
        return forbidden_outside(module, outside)
    here, there = part_of(module), part_of(imported)
    if module in EXEMPT or here not in ROW:
        return ""
    if there not in ROW:
        return f"{here} imports {imported}, but {there} stands in no layer: is the name right?"
    if ROW[there] <= ROW[here]:
        return ""
    later = there or "__init__"
    return f"{here} imports {imported}, but {later} stands later in the order: move the code, or pass it as an argument"


def forbidden_outside(module: str, package: str) -> str:
    if package in sys.stdlib_module_names or module == OPTIONAL:
        return ""
    places = OUTSIDE.get(package, ())
    if any(f"{module}.".startswith(f"{place}.") for place in places):
        return ""
    return f"{module} imports {package}, allowed only in {', '.join((*places, OPTIONAL))}"


def find_circles(graph: dict[str, list[str]]) -> Iterator[list[str]]:
    """Circles of imports, each as [a, b, ..., a] where a imports b. Each is cut once to find the next."""
    while True:
        try:
            TopologicalSorter(graph).prepare()
            return
        except CycleError as error:
            circle: list[str] = error.args[1][::-1]  # graphlib lists the imported before the importer
            yield circle
            graph[circle[0]].remove(circle[1])


def main() -> int:
    violations = check(Path(__file__).resolve().parents[1] / "src" / PACKAGE)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
