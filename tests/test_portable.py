"""The package works on Linux, macOS and Windows, as far as one system can show it of the others.

The workflow runs the tests on all three. What is tested here fails on any of them: a module that only POSIX has, a file
opened in the encoding of the system, a character that its terminal cannot print.
"""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_edu as ad

PACKAGE = Path(ad.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "crypt", "spwd", "nis"}
WINDOWS_ONLY = {"msvcrt", "winreg", "winsound", "_winapi"}

ELSEWHERE = f"""
import sys, warnings

warnings.filterwarnings("error", category=EncodingWarning, module="autodiff_edu")

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {sorted(POSIX_ONLY - {"posix"})}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

for name in {sorted(POSIX_ONLY - {"posix"})}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
"""
"""Makes the modules that only POSIX has impossible to import, but for `posix`, which Python's own `os` is made of."""


def run(code, folder, **environment):
    """Run code in a process of its own that has no POSIX-only module, in which an encoding left open is an error."""
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", ELSEWHERE + code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def imports(tree):
    """List the modules that a file imports where nothing catches that they are missing."""
    guarded = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        and any("ImportError" in ast.dump(h) or "ModuleNotFoundError" in ast.dump(h) for h in node.handlers)
        for part in node.body
        for inner in ast.walk(part)
    }
    for node in ast.walk(tree):
        if node not in guarded and isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif node not in guarded and isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def open_in_the_system_s_way(tree):
    """List the lines of calls that read or write text in an encoding that the system chooses."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        words = [a.value for a in (*node.args, *given.values()) if isinstance(a, ast.Constant)]
        binary = any(isinstance(word, str) and set(word) <= set("rwxab+") and "b" in word for word in words)
        text = name in {"read_text", "write_text"} or (name == "open" and not binary)
        if name in {"run", "Popen", "check_output"} and ("text" in given or "universal_newlines" in given):
            text = True
        others = {"io.open", "os.open", "super().open", "self.layout.open"}  # the last two open models of widgets
        if text and "encoding" not in given and ast.unparse(node.func) not in others:
            yield node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_file_needs_no_system_of_its_own(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not set(imports(tree)) & (POSIX_ONLY | WINDOWS_ONLY)
    assert list(open_in_the_system_s_way(tree)) == []
    assert "os.path." not in path.read_text(encoding="utf-8"), "paths go through pathlib"


def test_the_search_finds_what_it_looks_for():
    found = ast.parse("import fcntl\nfrom pwd import x\ntry:\n  import resource\nexcept ImportError:\n  pass")
    assert list(imports(found)) == ["fcntl", "pwd"]
    calls = ["open(p)", "p.open('w')", "p.read_text()", "subprocess.run(c, text=True)", "open(p, 'rb')"]
    calls += ["p.open('w', encoding='utf-8')", "p.write_text(t, encoding='utf-8')", "subprocess.run(c)"]
    assert list(open_in_the_system_s_way(ast.parse("\n".join(calls)))) == [1, 2, 3, 4]


def test_without_posix_the_package_records_plays_saves_and_loads(tmp_path):
    out = run(
        """
import numpy as np, autodiff_edu as ad
from pathlib import Path
f = lambda x: np.sum(np.sin(x) * x)
player = ad.play(f, np.array([1.0, 2.0]))
for ending in ("html", "svg", "pdf", "txt"):
    player.save(f"größe.{ending}")
    assert Path(f"größe.{ending}").stat().st_size
ad.save(f, Path("f.ad"), np.array([1.0, 2.0]))
print(ad.grad(ad.load("f.ad"))(np.array([1.0, 2.0])).shape)
assert not {"resource", "fcntl", "pwd", "grp", "termios", "pty"} & set(sys.modules)
""",
        tmp_path,
    )
    assert out.split() == ["(2,)"]
    assert len(list(tmp_path.iterdir())) == 5
    page = (tmp_path / "größe.html").read_bytes()
    assert page.decode("utf-8")
    assert b"\r\n" not in page


def test_without_posix_a_submission_is_written_and_graded(tmp_path):
    run(
        "from autodiff_edu.course.__main__ import main\nassert main(['assignment', 'handout', '00']) in (0, None)",
        tmp_path,
    )
    (handout,) = tmp_path.glob("handout/*.ipynb")
    assert b"\r" not in handout.read_bytes()
    notebook = json.loads(handout.read_text(encoding="utf-8"))
    notebook["cells"] = notebook["cells"][:1]  # nothing to run for long
    handout.write_text(json.dumps(notebook), encoding="utf-8")
    code = "from autodiff_edu.course.__main__ import main\nmain(['grade', 'handout', '--output', 'out.csv'])"
    run(code, tmp_path)
    rows = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) > 1


def test_the_course_s_commands_print_on_a_terminal_with_few_characters(tmp_path):
    commands = [["list"], ["--help"], *([name, "--help"] for name in ("assignment", "grade", "execute"))]
    code = f"""
from autodiff_edu.course.__main__ import main
for arguments in {commands}:
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code
    assert not code, arguments
    print("printed")
"""
    assert run(code, tmp_path, PYTHONIOENCODING="cp1252").splitlines().count("printed") == len(commands)


def test_a_place_is_named_by_the_file_alone_whatever_separates_its_folders(tmp_path):
    path = tmp_path / "folder" / "learner.py"
    path.parent.mkdir()
    path.write_bytes(
        b"import autodiff_edu as ad\r\nx = ad.Variable(2.0)\r\nwith ad.GradientTape() as tape:\r\n    y = x * x\r\n"
    )
    spec = importlib.util.spec_from_file_location("learner", path)
    spec.loader.exec_module(learner := importlib.util.module_from_spec(spec))
    (entry,) = learner.tape.entries
    assert str(entry.place) == "learner.py, line 4"
    assert "y = x * x" in str(learner.tape), "also of a file with the line endings of Windows"
