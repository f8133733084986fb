"""A file is written whole or not at all, and nothing is left behind."""

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tampering import X, function, members_of

import autodiff_edu as ad
from autodiff_edu.saving import files, load, save


@pytest.fixture
def path(tmp_path):
    save(function, tmp_path / "function.ad", X)
    return tmp_path / "function.ad"


def test_the_file_is_a_plain_zip_of_json_and_arrays(path):
    members = members_of(path)
    assert set(members) == {"program.json", "constants/0.npy", "variables/0.npy"}
    assert np.array_equal(np.load(io.BytesIO(members["variables/0.npy"])), [1.0, 2.0, 3.0])
    document = json.loads(members["program.json"])
    assert (document["format"], document["version"]) == ("autodiff_edu saved function", 1)
    assert path.read_bytes()[-64:].decode() == hashlib.sha256(path.read_bytes()[:-64]).hexdigest()


def test_a_failed_save_leaves_the_existing_file_whole_and_no_litter(path, monkeypatch):
    before = path.read_bytes()

    def broken(x):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        save(broken, path, X)

    def full(*_):
        raise OSError("no space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, full)
            with pytest.raises(OSError, match="no space"):
                save(function, path, X)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["function.ad"]


KILLED = """
import os, signal, sys
import autodiff_edu as ad
os.fsync = lambda number: os.kill(os.getpid(), signal.SIGKILL)
ad.save(lambda x: x * 2.0, sys.argv[1], 1.0)
"""


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
def test_what_a_killed_save_left_behind_is_cleaned_up_by_the_next(path):
    before = path.read_bytes()
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert len(list(path.parent.iterdir())) == 2
    assert path.read_bytes() == before
    others = {".function.ad.backup", ".function.ad.0123456z", ".function.ad2.01234567", "function.ad.01234567"}
    for other in others:
        path.with_name(other).write_text("")
    save(function, path, X)
    assert {p.name for p in path.parent.iterdir()} == {path.name, *others}


def test_what_another_process_is_still_writing_is_left_alone(path, monkeypatch):
    def during(number):
        monkeypatch.undo()
        (writing,) = path.parent.glob(".function.ad.*")
        save(lambda x: x * 5.0, path, 1.0)
        assert writing.exists()

    monkeypatch.setattr(os, "fsync", during)
    save(lambda x: x * 3.0, path, 1.0)
    assert float(load(path)(1.0)) == 3.0
    assert [p.name for p in path.parent.iterdir()] == ["function.ad"]


def test_a_save_whose_temporary_file_was_taken_away_writes_another(path, monkeypatch):
    def during(number):
        monkeypatch.undo()
        for writing in path.parent.glob(".function.ad.*"):
            writing.unlink()

    monkeypatch.setattr(os, "fsync", during)
    save(lambda x: x * 3.0, path, 1.0)
    assert float(load(path)(1.0)) == 3.0


def test_saves_of_one_path_at_once_all_succeed(path):
    failed = []

    def save_often(byte):
        try:
            for _ in range(100):
                files.write(path, byte * 1000)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=save_often, args=(bytes([k]),)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(set(path.read_bytes())) == 1
    assert [p.name for p in path.parent.iterdir()] == ["function.ad"]


def test_a_file_that_another_process_removes_is_not_taken_for_a_device(path, monkeypatch):
    def removed_first(path):
        path.unlink()
        return is_file(path)

    is_file = Path.is_file
    monkeypatch.setattr(Path, "is_file", removed_first)
    files.check_regular(path)


@pytest.mark.parametrize("fails", ["open", "replace"])
def test_a_folder_that_takes_no_files_is_an_error_and_not_tried_again(path, monkeypatch, fails):
    def refuse(*_):  # as Linux does in /proc
        raise FileNotFoundError("No such file or directory")

    before = list(path.parent.iterdir())
    monkeypatch.setattr(Path, fails, refuse)
    with pytest.raises(FileNotFoundError):
        files.write(path, b"1")
    assert list(path.parent.iterdir()) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("kind", ["pipe", "link", "device", "loop"])
def test_only_a_regular_file_is_replaced(path, kind):
    os.mkfifo(pipe := path.with_name("pipe"))
    _, terminal = os.openpty()
    device = Path(os.ttyname(terminal))  # a mistake must not cost the machine its null device
    place = path.with_name("place.ad")
    place.symlink_to({"pipe": pipe, "link": "link", "device": device, "loop": place}[kind])
    path.with_name("link").symlink_to(pipe)
    for given in (place, pipe):
        with pytest.raises(FileExistsError, match="give another path"):
            save(function, given, X)
        with pytest.raises(FileExistsError, match="give another path"):
            files.write(given, b"")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert stat.S_ISCHR(device.stat().st_mode)
    assert place.is_symlink()


def test_a_link_to_a_file_stays_and_the_file_is_replaced(path):
    link = path.with_name("link.ad")
    link.symlink_to(path.name)
    save(lambda x: x * 3.0, link, 1.0)
    assert link.is_symlink()
    assert float(load(path)(1.0)) == 3.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_with_the_name_of_a_temporary_file_is_left_alone(path):
    os.mkfifo(pipe := path.with_name(".function.ad.01234567"))
    save(function, path, X)
    assert pipe.exists()


def test_a_new_file_has_the_permissions_of_any_new_file(path):
    other = path.with_name("other")
    other.write_text("")
    assert path.stat().st_mode == other.stat().st_mode


def test_saving_to_where_there_is_no_folder_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        save(function, tmp_path / "nowhere" / "function.ad", X)


def test_a_folder_is_refused_by_its_own_name(tmp_path):
    with pytest.raises(OSError, match="irectory") as error:
        ad.save(lambda x: x * 2.0, tmp_path, 1.0)
    assert str(tmp_path) in str(error.value)
    assert f".{tmp_path.name}." not in str(error.value)


def test_an_empty_path_is_not_a_folder(tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    with pytest.raises(OSError, match=r"irectory|path"):
        ad.save(lambda x: x * 2.0, "", 1.0)
    assert [p.name for p in tmp_path.iterdir()] == ["inside"]


def test_a_path_may_be_a_link_to_a_file(tmp_path):
    ad.save(lambda x: x * 2.0, tmp_path / "file.ad", 1.0)
    (tmp_path / "link.ad").symlink_to("file.ad")
    ad.save(lambda x: x * 5.0, tmp_path / "link.ad", 1.0)
    assert (tmp_path / "link.ad").is_symlink()
    assert float(ad.load(tmp_path / "file.ad")(1.0)) == 5.0
