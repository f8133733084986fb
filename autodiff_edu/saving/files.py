"""Packs a document and arrays into one file and unpacks it, trusting nothing that is read.

The file is a zip archive without compression: `program.json` and one NumPy `.npy` member per array. Its comment, the
last 64 bytes of the file, is the SHA-256 of all bytes before it, so no byte can change unseen. Nothing is allocated
just because the file says so: members must fit into it side by side, only those that the program declares are read, and
an array's header must agree with the number of bytes in the file.

>>> data = pack({"constants": [{}]}, {"constants/0": np.arange(3.0)})
>>> unpack(data, "f.ad")
({'constants': [{}]}, {'constants/0': array([0., 1., 2.])})
>>> unpack(data[:-1], "f.ad")
Traceback (most recent call last):
ValueError: f.ad was changed or cut short since it was saved: its checksum does not match; save it again
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
import zipfile
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]
LOCKS: bool = hasattr(fcntl, "flock")  # in a browser the module is empty

DIGEST = 64
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
PROGRAM = "program.json"
DEEPEST = 1000
"""How many brackets of a program may be open at once; a structure of 1,000 lists cannot be saved anyway."""
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same bytes, whenever they are written


def pack(document: Any, arrays: dict[str, Any]) -> bytes:
    """Return the bytes of a file."""
    members = {PROGRAM: json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        native = array.astype(array.dtype.newbyteorder("="), order="C", copy=False)
        np.lib.format.write_array(buffer, native, version=(1, 0), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    return seal(members)


def seal(members: dict[str, bytes]) -> bytes:
    """Put members into an archive and close it with the checksum."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content)
        archive.comment = b"0" * DIGEST
    data = buffer.getvalue()[:-DIGEST]
    return data + hashlib.sha256(data).hexdigest().encode()


def unpack(data: bytes, path: Any) -> tuple[Any, dict[str, Any]]:
    """Return the document and the arrays of a file.

    Raises
    ------
    ValueError
        If these are not the bytes of such a file, or some are missing.
    """
    if not data.startswith(b"PK") or len(data) <= DIGEST:
        raise ValueError(f"{path} was not written by ad.save: it is not a zip archive")
    if hashlib.sha256(data[:-DIGEST]).hexdigest().encode() != data[-DIGEST:]:
        if zipfile.is_zipfile(io.BytesIO(data)) and not _ours(data):
            raise ValueError(f"{path} was not written by ad.save: it is a zip archive without {PROGRAM}")
        raise ValueError(
            f"{path} was changed or cut short since it was saved: its checksum does not match; save it again"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            listed = _listed(archive, len(data))
            program = archive.read(PROGRAM) if PROGRAM in listed else None
            document = None if program is None else _json(program)
            members = {name: archive.read(name) for name in _declared(document) if name in listed}
    except Exception as error:  # zipfile raises a dozen kinds of errors for malformed archives
        raise ValueError(f"{path} is damaged: {error}; save it again") from error
    if program is None:
        raise ValueError(f"{path} was not written by ad.save: it is a zip archive without {PROGRAM}")
    if isinstance(document, dict) and len(listed) > 1 + len(members):
        raise ValueError(
            f"{path} cannot be loaded: it contains arrays that its program does not declare; save it again"
        )
    return document, {name.removesuffix(".npy"): _array(content, name, path) for name, content in members.items()}


def _ours(data: bytes) -> bool:
    try:
        return PROGRAM in zipfile.ZipFile(io.BytesIO(data)).namelist()
    except Exception:
        return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _json(program: bytes) -> Any:
    _check_depth(program)
    try:
        return json.loads(program, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{PROGRAM} is not JSON ({error})") from error


def _check_depth(program: bytes) -> None:
    """Raise ValueError where parsing would use up the stack; in a page, that ends Python without a RecursionError."""
    brackets = re.sub(rb'"(?:[^"\\]|\\.)*"', b"", program).translate(None, NO_BRACKETS)
    if max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) > DEEPEST:
        raise ValueError(f"{PROGRAM} is nested more than {DEEPEST} deep")


def _listed(archive: zipfile.ZipFile, size: int) -> set[str]:
    """List the members of an archive, which must fit into the file side by side."""
    members = archive.infolist()
    names = {member.filename for member in members}
    if len(names) < len(members):
        raise ValueError("two members have the same name")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise ValueError(f"{member.filename} is compressed")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its members claim more bytes than the file has")
    return names


def _declared(document: Any) -> list[str]:
    """List the members that a program declares; its reader reports everything else that is wrong."""
    counts = {kind: document.get(kind) if isinstance(document, dict) else None for kind in ("constants", "variables")}
    return [f"{kind}/{k}.npy" for kind, each in counts.items() if isinstance(each, list) for k in range(len(each))]


def _array(content: bytes, name: str, path: Any) -> Any:
    """Read an array whose header matches its bytes."""
    buffer = io.BytesIO(content)
    try:
        if np.lib.format.read_magic(buffer) != (1, 0):
            raise ValueError("another version of the .npy format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    except Exception as error:
        raise ValueError(
            f"{path} is damaged: {name} does not have the header of an array ({error}); save it again"
        ) from error
    there = len(content) - buffer.tell()
    sound = not fortran and dtype.kind in "biufc" and all(type(n) is int and n >= 0 for n in shape)
    if not sound or math.prod(shape) * dtype.itemsize != there:
        raise ValueError(
            f"{path} is damaged: {name} claims to be an array of shape {shape} and dtype {dtype}, but has {there} "
            "bytes; save it again"
        )
    return np.frombuffer(content, dtype, offset=buffer.tell()).reshape(shape)


def check_path(path: Any, example: str = "f.ad") -> None:
    """Raise an error for an invalid file path before anything is written; `example` is a good name."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"the path of the file is {path!r:.60}; write ad.save(function, path, *examples): "
            "ad.save(f, 'f.ad', np.zeros((4, 3)))"
        )
    if not os.fspath(path):
        raise FileNotFoundError(f"the path of the file is empty; give it a name, such as {example!r}")
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a directory; give the path of a file, such as {Path(path) / example}")
    check_regular(path)
    folder = resolve(path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no directory {folder}; create it first")


def check_regular(path: Any) -> None:
    """Raise an OSError if a path is neither free nor that of a regular file, or of a link to one."""
    try:
        mode = Path(path).stat().st_mode  # asked once, for another process may remove the file meanwhile
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(mode):
        raise FileExistsError(f"{path} is a device or a pipe, which a file must not replace; give another path")


def resolve(path: Any) -> Path:
    """Follow links, so that the file is replaced and never a link to it; raise an OSError if they lead nowhere."""
    try:
        found = Path(path).resolve()
        is_loop = found.is_symlink()  # since Python 3.13
    except RuntimeError:  # before
        is_loop = True
    if is_loop:
        raise FileExistsError(f"{path} is a symbolic link that leads back to itself; give another path")
    return found


def resolve_folder(path: Any) -> Path:
    """Follow links to a folder that is still to be created; raise an OSError if something else is in its place."""
    found = resolve(path)
    above = next(each for each in (found, *found.parents) if each.exists())
    if not above.is_dir():
        raise FileExistsError(f"{above} is not a folder. Nothing was written. Choose another folder")
    return found


def write(path: Any, data: bytes) -> None:
    """Write a file completely or not at all: an existing one stays unchanged until the new one is complete."""
    path = resolve(path)
    check_regular(path)
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        if re.fullmatch("[0-9a-f]{8}", left.name[len(path.name) + 2 :]):
            with contextlib.suppress(OSError):
                remove_leftover(left)
    while not _write(path, data):
        pass


def _write(path: Path, data: bytes) -> bool:
    """Write a file; return whether its temporary file was still there, which another process may have removed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            with contextlib.suppress(BlockingIOError):  # just being removed
                lock(file)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if LOCKS:  # as long as it is locked, nobody takes it for a leftover
                return _replace(temporary, path)
        return _replace(temporary, path)  # Windows replaces no open file
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _replace(temporary: Path, path: Path) -> bool:
    try:
        temporary.replace(path)
    except FileNotFoundError:
        if temporary.exists() or not path.parent.is_dir():
            raise
        return False
    return True


def remove_leftover(path: Path) -> None:
    """Remove a file that a process was writing when it was killed, if there are locks to tell.

    Raises
    ------
    OSError
        If a process is still writing it, or it is not a regular file.
    """
    check_regular(path)
    if not LOCKS or path.is_symlink():
        path.unlink()
        return
    with path.open("rb") as file:
        if lock(file):
            path.unlink()


def same_file(file: Any, path: Path) -> bool:
    """Return whether an open file is still the one at a path."""
    one, other = os.fstat(file.fileno()), path.stat()
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def lock(file: Any) -> bool:
    """Lock an open file until it is closed, if there are locks; Windows itself keeps open files from being removed.

    Raises
    ------
    BlockingIOError
        If another process has locked it.
    """
    try:
        if LOCKS:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return LOCKS
    except BlockingIOError:
        raise
    except OSError:  # some file systems have no locks
        return False
