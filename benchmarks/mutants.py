"""Sixty small faults in the package, the same every time, and which of them the tests catch.

Run it from the checkout: `python -m benchmarks.mutants`. A fault is one line changed by one operator, one constant,
one guard; twelve are drawn for each of five folders. It is planted in a copy, so the checkout stays as it is.
`python -m benchmarks.mutants OTHER` plants the faults of this checkout's package in that checkout, under its own tests.
"""

from __future__ import annotations

import ast
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
NUMBER, SEED = 12, 29  # of faults in each folder; of the generator
LIMIT = 300  # seconds of computing, or ten times as long without any, until tests are taken to hang

TESTS = {
    "core": ["core", "derivatives", "arrays", "rules"],
    "derivatives": ["derivatives", "transforms", "core"],
    "transforms": ["transforms", "derivatives"],
    "rules": ["rules", "derivatives"],
    "player/layout": ["player"],
}
"""Which folders of the tests look for the faults of each folder: its own first, then those that lean on it."""

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mod}
ARITHMETIC |= {ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr}
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq}
COMPARISONS |= {ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}


class Mutant(NamedTuple):
    """A piece of a file, and what stands there instead."""

    kind: str
    file: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} -> {self.after}"

    def plant(self, source: bytes) -> bytes:
        return source[: self.start] + f"({self.after})".encode() + source[self.end :]


def changed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a node could be by mistake."""
    match node:
        case ast.BinOp(left, ast.MatMult(), right):
            yield ast.BinOp(right, ast.MatMult(), left)
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC and not is_text(left):
            yield ast.BinOp(left, ARITHMETIC[type(operator)](), right)
        case ast.Compare(left, [operator, *others], right):
            yield ast.Compare(left, [COMPARISONS[type(operator)](), *others], right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(float() as value):
            yield ast.Constant(value + 1)
        case ast.Call(ast.Attribute(attr="conj" | "conjugate"), [argument]):
            yield argument
        case ast.Call(ast.Attribute() as function, [first, second, *rest], keywords):
            if not any(isinstance(argument, ast.Starred) for argument in (first, second)):
                yield ast.Call(function, [second, first, *rest], keywords)


def mutants_of(file: Path) -> list[Mutant]:
    """List every fault that can be planted in a file, but for those in annotations and messages."""
    source = file.read_bytes()
    lengths = [0]
    for text in source.splitlines(keepends=True):
        lengths.append(lengths[-1] + len(text))
    found: list[Mutant] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise | ast.Return | ast.Continue):
            add("guard", node.test, ast.Constant(False))
        for other in changed(node):
            add(type(node).__name__, node, other)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr | ast.Raise):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child)

    def add(kind: str, node: ast.expr, other: ast.expr) -> None:
        start, end = (
            lengths[line - 1] + column
            for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        )
        name = file.relative_to(ROOT).as_posix()
        found.append(Mutant(kind, name, node.lineno, start, end, source[start:end].decode(), ast.unparse(other)))

    visit(ast.parse(source))
    return [one for one in found if compiles(one.plant(source))]


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr | ast.List) or isinstance(getattr(node, "value", None), str)


def compiles(source: bytes) -> bool:
    try:
        return bool(compile(source, "mutant", "exec"))
    except SyntaxError:
        return False


def drawn(folder: str) -> list[Mutant]:
    """Draw the faults of a folder, every kind as likely as any other, and no line twice."""
    chance = random.Random(f"{SEED} {folder}")
    kinds: dict[str, list[Mutant]] = {}
    for file in sorted((ROOT / "autodiff_edu" / folder).rglob("*.py")):
        for one in mutants_of(file):
            kinds.setdefault(one.kind, []).append(one)
    chosen: dict[tuple[str, int], Mutant] = {}
    while len(chosen) < NUMBER:
        one = chance.choice(kinds[chance.choice(sorted(kinds))])
        chosen.setdefault((one.file, one.line), one)
    return list(chosen.values())


def first(folder: str, mutant: Mutant, tests: Path) -> list[str]:
    """The test file of the same name before all others, if there is one."""
    own = tests / folder / f"test_{Path(mutant.file).name}"
    return [str(path) for path in [own, *(tests / name for name in TESTS[folder])] if path.exists()]


def fate(checkout: Path, folder: str, mutant: Mutant) -> str:
    """Plant a fault in a checkout, run the tests that should catch it, and take it out again."""
    file = checkout / mutant.file
    source = file.read_bytes()
    file.write_bytes(mutant.plant(source))
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-x", "-n", "0", *first(folder, mutant, checkout / "tests")],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
    )
    try:
        told = process.communicate(timeout=10 * LIMIT)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "caught, hangs"
    finally:
        file.write_bytes(source)
    if process.returncode == 0:
        return "SURVIVED"
    failed = [line for line in told.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return f"caught, {(failed or told.splitlines() or ['no word'])[-1][:100]}"


def main(other: Path = ROOT) -> None:
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "checkout")
        shutil.copytree(other, checkout, ignore=shutil.ignore_patterns(".git", ".venv", "node_modules", "_build"))
        total = 0
        for room in TESTS:
            caught = 0
            for mutant in drawn(room):
                assert (checkout / mutant.file).read_bytes() == (ROOT / mutant.file).read_bytes(), mutant.file
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                end = fate(checkout, room, mutant)
                seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
                caught += end.startswith("caught")
                print(f"{mutant}\n    {end} ({seconds:.0f} s of computing)", flush=True)
            print(f"{room}: {caught} of {NUMBER} caught", flush=True)
            total += caught
        print(f"all: {total} of {NUMBER * len(TESTS)} caught")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
