"""The files of saved functions are refused by name when anything in them is wrong."""

import hashlib
import io
import pickle
import zipfile

import numpy as np
import pytest
from tampering import X, function, members_of, npy, set_in, step, tampered

from autodiff_edu.core.composites import SPELLED
from autodiff_edu.core.rule import RULES
from autodiff_edu.saving import files, load, save
from autodiff_edu.saving.operations import operations


@pytest.fixture
def path(tmp_path):
    save(function, tmp_path / "function.ad", X[:4])
    return tmp_path / "function.ad"


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
    with pytest.raises(ValueError, match=r"function.ad (was not written by ad.save|was changed or cut short)"):
        load(path)


def test_another_zip_archive_is_refused(tmp_path):
    np.savez(tmp_path / "weights.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"weights.npz was not written by ad.save: it is a zip archive without"):
        load(tmp_path / "weights.npz")


@pytest.mark.parametrize("kept", [0, 1, 63, 64, 65, 200, 0.5, 0.9, -65, -1])
def test_a_file_that_was_cut_short_is_refused(kept, path):
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    with pytest.raises(ValueError, match=r"function.ad"):
        load(path)


def huge_constant(document):
    document["constants"][0]["shape"] = [2**20, 2**20]


TAMPERED = {
    "another format": (lambda d: d.update(format="mine"), "was not written by ad.save"),
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
    "a missing input": (set_in("getitem", arguments=[{"input": 1}, 0]), "refers to input 1, but there are 1"),
    "an unknown kind of argument": (set_in("getitem", arguments=[{"code": "1+1"}]), "of the kind 'code'"),
    "an argument with two tags": (set_in("getitem", arguments=[{"input": 0, "result": 0}]), "is not an argument"),
    "a bad slice": (set_in("getitem", arguments=[{"slice": [1, 2]}]), "of the kind 'slice'"),
    "a bad dtype": (set_in("getitem", arguments=[{"dtype": "object"}]), "is not a dtype of numbers"),
    "an unknown dtype": (set_in("getitem", arguments=[{"dtype": "float7"}]), "does not know the dtype 'float7'"),
    "arguments that are no list": (set_in("getitem", arguments={"input": 0}), "in the place of a list"),
    "parameters that are no object": (set_in("getitem", parameters=[]), "must be an object"),
    "a result too many for the format": (set_in("getitem", results=[]), "has no result"),
    "arguments that are no inputs": (
        lambda d: d.update(arguments={"list": [{"constant": 0}]}),
        "arguments are not its 1 inputs",
    ),
    "an input that no argument is": (lambda d: d.update(arguments={"list": []}), "arguments are not its 1 inputs"),
    "an input that two arguments are": (
        lambda d: d.update(arguments={"list": [{"input": 0}, {"input": 0}]}),
        "arguments are not its 1 inputs",
    ),
    "an argument that is a number": (lambda d: d.update(arguments=5), "in the place of a list"),
    "arguments of which one is a number": (
        lambda d: d.update(arguments={"list": [{"input": 0}, 5]}),
        "arguments are not its 1 inputs",
    ),
    "a result that is a number": (lambda d: d.update(result={"list": [{"result": 0}, 5]}), "result is not a reference"),
    "a result with an odd key": (
        lambda d: d.update(result={"dict": [[{"result": 0}, {"result": 0}]]}),
        "in the place of the key of a dict",
    ),
    "a negative shape": (set_in("getitem", results=[["float64", [-1]]]), "is not a shape"),
    "a huge constant": (huge_constant, "too many to compute"),
    "a constant of another shape": (lambda d: d["constants"][0].update(shape=[7]), "is declared with shape"),
    "a constant of another dtype": (lambda d: d["constants"][0].update(dtype="int8"), "is declared with shape"),
    "a constant too many": (lambda d: d["constants"].append(d["constants"][0]), "constants/1 is missing"),
    "a constant too few": (lambda d: d["variables"].clear(), "refers to variable 0|does not declare"),
    "a variable with no flag": (lambda d: d["variables"][0].update(trainable=1), "trainable true or false"),
    "a variable named by a number": (lambda d: d["variables"][0].update(name=1), "must be text or null"),
    "no instructions": (lambda d: d.pop("instructions"), "does not follow the format"),
    "instructions that are numbers": (lambda d: d.update(instructions=[1]), "does not follow the format"),
    "a name that is none": (lambda d: d.update(name=None), "in the place of a name"),
    "a group that is none": (lambda d: d["inputs"][0].update(group="n"), "is not a group"),
    "a result that is none": (lambda d: d.update(result={"result": 99}), "refers to result 99"),
    "a backward of other length": (
        lambda d: step(d, "custom_gradient")["backward"].update(result={"list": []}),
        "must return one gradient",
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
        claiming((True, 3)) + b"0" * 24,
        b"",
        b"no array",
    ],
    ids=["pickle", "Fortran", "text", "huge", "huge and empty", "negative", "cut", "true", "empty", "words"],
)
def test_an_array_that_is_not_what_its_header_says_is_refused(content, path):
    with_member(path, "constants/0.npy", content)
    with pytest.raises(ValueError, match=r"function.ad is damaged: constants/0.npy"):
        load(path)


def test_a_program_that_is_not_json_is_refused(path):
    for content in (b"", b"{", b"[1, NaN]", b"\xff", b"[" * 100_000, b'{"\\"":' * 1001, b'["]",' * 100_000):
        with_member(path, "program.json", content)
        with pytest.raises(ValueError, match=r"function.ad is damaged: program.json"):
            load(path)
    with_member(path, "program.json", b"[]")
    with pytest.raises(ValueError, match=r"was not written by ad\.save"):
        load(path)


def test_brackets_within_texts_do_not_count_as_nested(path):
    document, arrays = files.unpack(path.read_bytes(), path)
    document["name"] = '[{"\\' * 1001
    path.write_bytes(files.pack(document, arrays))
    assert files.unpack(path.read_bytes(), path)[0] == document


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


def test_members_that_overlap_are_refused_before_any_is_read(path, monkeypatch):
    members = members_of(path)
    content = npy(np.zeros(2**14))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in [*members.items(), ("constants/1.npy", content)]:
            archive.writestr(zipfile.ZipInfo(name), member)
        first = archive.infolist()[-1]
        for k in range(2, 1000):
            again = zipfile.ZipInfo(f"constants/{k}.npy")
            again.header_offset, again.CRC = first.header_offset, first.CRC
            again.file_size = again.compress_size = first.file_size
            archive.filelist.append(again)
        archive.comment = b"0" * 64
    data = buffer.getvalue()[:-64]
    path.write_bytes(data + hashlib.sha256(data).hexdigest().encode())
    monkeypatch.setattr(zipfile.ZipFile, "read", None)  # would raise, if it was called
    with pytest.raises(ValueError, match="its members claim more bytes than the file has"):
        load(path)


def test_only_what_the_program_declares_is_read(path, monkeypatch):
    members = members_of(path) | {f"constants/{k}.npy": b"" for k in range(1, 3000)}
    path.write_bytes(files.seal(members))
    read, names = zipfile.ZipFile.read, []
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda archive, name: names.append(name) or read(archive, name))
    with pytest.raises(ValueError, match="does not declare"):
        load(path)
    assert names == ["program.json", "constants/0.npy", "variables/0.npy"]


def test_names_from_a_file_are_spelled_out_where_they_are_not_to_be_printed(path):
    evil, shown = "\x1b]0;mine\x07\u202e\n", "\\x1b]0;mine\\x07\\u202e\\n"

    def change(document):
        document["name"] = document["inputs"][0]["name"] = document["variables"][0]["name"] = evil
        for instruction in document["instructions"]:
            instruction["place"] = evil

    tampered(path, change)
    loaded = load(path)
    assert loaded.variables[0].name == loaded.__name__ == shown
    with pytest.raises(ValueError, match="must have shape") as caught:
        loaded(np.ones(3))
    for text in (repr(loaded), str(loaded), repr(loaded.variables), str(caught.value)):
        assert shown in text.replace("\\\\", "\\")
        assert all(part.isprintable() for part in text.split("\n"))
    tampered(path, lambda d: d["instructions"][0].update(operation=evil))
    with pytest.raises(ValueError, match="cannot be loaded") as caught:
        load(path)
    assert str(caught.value).isprintable()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in [*members_of(path).items(), ("constants/0.npy", npy(np.ones(3)))]:
            archive.writestr(zipfile.ZipInfo(name), member)
        archive.comment = b"0" * 64
    content = buffer.getvalue()[:-64]
    path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
    with pytest.raises(ValueError, match="two members have the same name"):
        load(path)


def test_an_operation_that_gives_another_number_of_results_is_an_error_when_called(path):
    tampered(path, lambda d: d["instructions"][-1].update(results=[["float64", []]] * 2))
    with pytest.raises(ValueError, match=r"numpy.reshape, from .*line \d+, returned 1 results instead of 2"):
        load(path)(X)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_in("getitem", arguments=[{"input": 0}, 9]), "index 9 is out of bounds"),
        (set_in("getitem", arguments=[{"input": 0}, {"tuple": [0, 0, 0, 0]}]), "too many indices"),
        (
            set_in("getitem", arguments=[{"input": 0}, {"float": "nan"}]),
            "only integers|indices must be|not a valid index",
        ),
        (set_in("getitem", arguments=[{"input": 0}, 10**30]), "cannot be computed"),
        (set_in("numpy.multiply", arguments=[{"input": 0}, 10**400]), "cannot be computed"),
    ],
)
def test_an_operation_that_cannot_be_computed_is_named(path, change, said):
    tampered(path, change)
    with pytest.raises(ValueError, match=said) as caught:
        load(path)(X)
    assert "from tampering.py, line " in str(caught.value)


def test_what_could_not_be_loaded_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="cannot be loaded"):
        save(lambda p: p[1, 2] * 2.0, tmp_path / "function.ad", {(1, 2): 1.0})
    assert list(tmp_path.iterdir()) == []


# The names of operations ---------------------------------------------------------------------------------------------


def test_every_operation_has_one_name_of_its_own():
    table = operations()
    assert len(table) == len({*RULES, *SPELLED})
    assert {"getitem", "astype", "cast", "stop_gradient", "numpy.sin", "numpy.linalg.norm", "numpy.where"} <= set(table)
    assert all(name.startswith(("numpy.", "registered.")) or name.isidentifier() for name in table)


def test_no_operation_reads_files_or_runs_code():
    names = {name.rpartition(".")[2] for name in operations()}
    assert not names & {"load", "save", "fromfile", "memmap", "loadtxt", "genfromtxt", "eval", "exec", "vectorize"}
