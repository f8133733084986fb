"""The files of saved functions: written whole or not at all, and refused by name when anything in them is wrong."""

import contextlib
import hashlib
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.core.rule import RULES, SPELLED
from autodiff_edu.custom import custom_gradient
from autodiff_edu.saving import files, load, save
from autodiff_edu.saving.operations import operations
from autodiff_edu.saving.reading import LARGEST, SIZED

X = np.arange(12.0).reshape(4, 3)
W = ad.Variable([1.0, 2.0, 3.0], name="w")


@custom_gradient
def doubled(x):
    return x * 1.0, lambda dy: dy * 2.0 * np.ones_like(x)


def function(x):
    return np.reshape(np.where(x[1:, ::2] > 0.5, doubled(x)[1:, ::2] * W[1], np.tile([1.0, 2.0], (3, 1))), (-1,))


@pytest.fixture
def path(tmp_path):
    save(function, tmp_path / "function.ad", X[:4])
    return tmp_path / "function.ad"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "function.ad"
    save(function, path, X)
    return path.read_bytes()


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def tampered(path, change):
    """Change the program, and seal the file again, so that the checksum is right."""
    members = members_of(path)
    document = json.loads(members["program.json"])
    change(document)
    members["program.json"] = json.dumps(document).encode()
    path.write_bytes(files.seal(members))


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


# Written whole, or not at all ----------------------------------------------------------------------------------------


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


def test_no_path_is_no_folder(tmp_path, monkeypatch):
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


# Refused -------------------------------------------------------------------------------------------------------------


def test_a_missing_file_is_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "function.ad")


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"hello" * 100, pickle.dumps({"a": 1}), npy(np.ones(3)), b"PK\x03\x04" + b"0" * 100]
)
def test_a_file_of_another_kind_is_refused(content, tmp_path):
    path = tmp_path / "function.ad"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"function.ad (is no file of ad.save|was changed or cut short)"):
        load(path)


def test_another_zip_archive_is_refused(tmp_path):
    np.savez(tmp_path / "weights.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"weights.npz is no file of ad.save, but some other zip archive"):
        load(tmp_path / "weights.npz")


@pytest.mark.parametrize("kept", [0, 1, 63, 64, 65, 200, 0.5, 0.9, -65, -1])
def test_a_file_that_was_cut_short_is_refused(kept, path):
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    with pytest.raises(ValueError, match=r"function.ad"):
        load(path)


@settings(deadline=None, derandomize=True, max_examples=400)
@given(draw=st.data())
def test_no_changed_byte_goes_unseen(data, draw):
    changed = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        place = draw.draw(st.integers(0, len(changed) - 1))
        changed[place] ^= draw.draw(st.integers(1, 255))
    if bytes(changed) != data:
        with pytest.raises(ValueError, match=r"function.ad"):
            files.unpack(bytes(changed), "function.ad")


def step(document, operation):
    return next(step for step in document["instructions"] if step["operation"] == operation)


def set_in(name, /, **changes):
    return lambda document: step(document, name).update(changes)


def huge_constant(document):
    document["constants"][0]["shape"] = [2**20, 2**20]


TAMPERED = {
    "another format": (lambda d: d.update(format="mine"), "is no file of ad.save"),
    "another version": (lambda d: d.update(version=2), "has version 2 of the format.*reads version 1"),
    "an operation that is none": (set_in("getitem", operation="os.system"), "no operation called 'os.system'"),
    "a builtin": (set_in("numpy.multiply", operation="eval"), "no operation called 'eval'"),
    "a NumPy function without rule": (set_in("numpy.multiply", operation="numpy.load"), "no operation called"),
    "a later result": (set_in("numpy.multiply", arguments=[{"result": 99}, 1]), "refers to result 99"),
    "its own result": (lambda d: d["instructions"][0].update(arguments=[{"result": 0}]), "refers to result 0"),
    "a negative index": (set_in("getitem", arguments=[{"input": -1}, 0]), "refers to input -1"),
    "an index that is no number": (set_in("getitem", arguments=[{"input": False}, 0]), "refers to input False"),
    "a custom gradient with more results": (
        set_in("custom_gradient", results=[["float64", []], ["float64", []]]),
        "declares 2 results",
    ),
    "a missing variable": (set_in("getitem", arguments=[{"variable": 1}, 0]), "refers to variable 1"),
    "a missing constant": (set_in("getitem", arguments=[{"constant": 7}, 0]), "refers to constant 7"),
    "a missing input": (set_in("getitem", arguments=[{"input": 1}, 0]), "refers to input 1, and there are 1"),
    "an unknown kind of argument": (set_in("getitem", arguments=[{"code": "1+1"}]), "of the kind 'code'"),
    "an argument with two tags": (set_in("getitem", arguments=[{"input": 0, "result": 0}]), "is no argument"),
    "a bad slice": (set_in("getitem", arguments=[{"slice": [1, 2]}]), "of the kind 'slice'"),
    "a bad dtype": (set_in("getitem", arguments=[{"dtype": "object"}]), "is not one of numbers"),
    "an unknown dtype": (set_in("getitem", arguments=[{"dtype": "float7"}]), "no dtype 'float7'"),
    "arguments that are no list": (set_in("getitem", arguments={"input": 0}), "where a list belongs"),
    "parameters that are no object": (set_in("getitem", parameters=[]), "must be an object"),
    "a result too many for the format": (set_in("getitem", results=[]), "has no result"),
    "huge shapes": (set_in("getitem", results=[["float64", [2**20, 2**20]]]), "too huge"),
    "a huge shape to make": (set_in("numpy.reshape", arguments=[{"result": 0}, {"tuple": [2**16, 2**17]}]), "too huge"),
    "a huge count": (
        set_in("numpy.multiply", operation="numpy.repeat", arguments=[{"result": 0}, LARGEST + 1]),
        "too huge",
    ),
    "a huge length": (
        set_in("numpy.multiply", operation="numpy.fft.fft", arguments=[{"result": 0}], parameters={"n": 2**40}),
        "too huge",
    ),
    "a negative shape": (set_in("getitem", results=[["float64", [-1]]]), "is no shape"),
    "a huge constant": (huge_constant, "too huge"),
    "a constant of another shape": (lambda d: d["constants"][0].update(shape=[7]), "is declared with shape"),
    "a constant of another dtype": (lambda d: d["constants"][0].update(dtype="int8"), "is declared with shape"),
    "a constant too many": (lambda d: d["constants"].append(d["constants"][0]), "constants/1 is missing"),
    "a constant too few": (lambda d: d["variables"].clear(), "refers to variable 0|does not declare"),
    "a variable with no flag": (lambda d: d["variables"][0].update(trainable=1), "trainable or not"),
    "a variable named by a number": (lambda d: d["variables"][0].update(name=1), "needs a name"),
    "no instructions": (lambda d: d.pop("instructions"), "not written as the format says"),
    "instructions that are numbers": (lambda d: d.update(instructions=[1]), "not written as the format says"),
    "a name that is none": (lambda d: d.update(name=None), "where a name belongs"),
    "a group that is none": (lambda d: d["inputs"][0].update(group="n"), "is no group"),
    "a result that is none": (lambda d: d.update(result={"result": 99}), "refers to result 99"),
    "a backward of other length": (
        lambda d: step(d, "custom_gradient")["backward"].update(result={"list": []}),
        "must give one gradient",
    ),
    "a backward with code": (
        lambda d: step(d, "custom_gradient")["backward"]["instructions"][0].update(operation="exec"),
        "no operation called 'exec'",
    ),
    "a backward without cotangents": (
        lambda d: step(d, "custom_gradient")["backward"].update(cotangents=[]),
        "takes 0 cotangents",
    ),
    "a backward that looks ahead": (
        lambda d: step(d, "custom_gradient")["backward"].update(result={"list": [{"result": 99}]}),
        "refers to result 99",
    ),
    "outputs that are no references": (
        set_in("custom_gradient", arguments=[{"list": []}, {"list": [1]}]),
        "references",
    ),
    "a custom gradient of one argument": (set_in("custom_gradient", arguments=[]), "two"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_program_that_was_tampered_with_is_refused_though_its_checksum_is_right(name, path):
    change, message = TAMPERED[name]
    load(path)
    tampered(path, change)
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    assert "function.ad" in str(caught.value)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(draw=st.data())
def test_a_program_with_anything_anywhere_loads_or_is_a_value_error(data, draw, tmp_path_factory):
    document, arrays = files.unpack(data, "function.ad")
    places = []

    def walk(part):
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    walk(document)
    part, key = draw.draw(st.sampled_from(places))
    part[key] = draw.draw(
        st.none() | st.booleans() | st.integers() | st.text() | st.just([]) | st.just({}) | st.just({"result": 0})
    )
    path = tmp_path_factory.mktemp("drawn") / "function.ad"
    path.write_bytes(files.pack(document, arrays))
    with contextlib.suppress(ValueError):
        load(path)


def with_member(path, name, content):
    members = members_of(path)
    members[name] = content
    path.write_bytes(files.seal(members))


def claiming(shape, dtype="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        npy(np.array([{"a": 1}], object)),
        npy(np.asfortranarray(np.ones((2, 3)))),
        npy(np.array(["a"])),
        claiming((10**12,)) + b"0" * 8,
        claiming((10**12, 0, 10**12)) + b"0" * 8,
        claiming((-1, -1)) + b"0" * 8,
        claiming((3,))[:40],
        b"",
        b"no array",
    ],
    ids=["pickle", "Fortran", "text", "huge", "huge and empty", "negative", "cut", "empty", "words"],
)
def test_an_array_that_is_not_what_its_header_says_is_refused(content, path):
    with_member(path, "constants/0.npy", content)
    with pytest.raises(ValueError, match=r"function.ad is damaged: constants/0.npy"):
        load(path)


def test_a_program_that_is_no_json_is_refused(path):
    for content in (b"", b"{", b"[1, NaN]", b"\xff", b"[" * 100_000):
        with_member(path, "program.json", content)
        with pytest.raises(ValueError, match=r"function.ad is damaged: program.json"):
            load(path)
    with_member(path, "program.json", b"[]")
    with pytest.raises(ValueError, match=r"is no file of ad.save"):
        load(path)


def test_an_array_that_nobody_declared_is_refused(path):
    with_member(path, "constants/9.npy", npy(np.ones(3)))
    with pytest.raises(ValueError, match="does not declare"):
        load(path)


def test_a_compressed_archive_is_refused_before_it_is_unpacked(path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("program.json", "{}")
        archive.writestr("constants/0.npy", claiming((2**22,), "|u1") + b"\0" * 2**22)
        archive.comment = b"0" * 64
    content = buffer.getvalue()[:-64]
    assert len(content) < 2**14
    path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
    with pytest.raises(ValueError, match="is compressed"):
        load(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in [*members_of(path).items(), ("constants/0.npy", npy(np.ones(3)))]:
            archive.writestr(zipfile.ZipInfo(name), member)
        archive.comment = b"0" * 64
    content = buffer.getvalue()[:-64]
    path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
    with pytest.raises(ValueError, match="two members have one name"):
        load(path)


def test_an_operation_that_gives_another_number_of_results_is_an_error_when_called(path):
    tampered(path, lambda d: d["instructions"][-1].update(results=[["float64", []]] * 2))
    with pytest.raises(ValueError, match=r"numpy.reshape, from .*line \d+, gave 1 results in place of 2"):
        load(path)(X)


def test_what_could_not_be_loaded_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="cannot be loaded"):
        save(lambda p: p[1, 2] * 2.0, tmp_path / "function.ad", {(1, 2): 1.0})
    assert list(tmp_path.iterdir()) == []


# The names of operations ---------------------------------------------------------------------------------------------


def test_every_operation_has_one_name_of_its_own():
    table = operations()
    assert len(table) == len({*RULES, *SPELLED}) - 1  # all custom gradients are one, and unnamed
    assert {"getitem", "astype", "cast", "stop_gradient", "numpy.sin", "numpy.linalg.norm", "numpy.where"} <= set(table)
    assert all(name.startswith(("numpy.", "registered.")) or name.isidentifier() for name in table)


def test_every_operation_that_is_told_a_size_exists():
    assert set(operations()) >= SIZED


def test_no_operation_reads_files_or_runs_code():
    names = {name.rpartition(".")[2] for name in operations()}
    assert not names & {"load", "save", "fromfile", "memmap", "loadtxt", "genfromtxt", "eval", "exec", "vectorize"}
