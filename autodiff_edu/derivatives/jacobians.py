"""Jacobians in one backward pass over a stack of one-hot seeds, for `GradientTape.jacobian` and `batch_jacobian`.

Rules count axes from the right, so a cotangent may carry one more axis in front. A stack with a one-hot seed for every
element of the target is pulled back in one pass, and what arrives at a source is the Jacobian, row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.stack import OneHot, Stack, dense
from ..arrays.structures import flatten, rebuild
from ..arrays.validate import is_whole
from ..core.active import now
from ..core.events import PullBack, Seed
from ..core.tape import Tape
from ..core.tensor import Tensor, as_tensor, wrap
from ..rules.operations import recorder
from .requests import emit_outcomes, tensors_of

SMALL = 64 * 2**10
"""A stack of seeds below this number of bytes is written out at once."""

LARGEST_STACK = 256 * 2**20
"""Bytes that a stack of cotangents may take before it is split, unless `chunk_size` says otherwise."""


def jacobian(tape: Tape, target: Any, sources: Any, unconnected: str = "none", chunk_size: int | None = None) -> Any:
    """Return the Jacobian of each target with respect to each source; see `GradientTape.jacobian`."""
    targets, tensors = real_tensors(target, "jacobian"), tensors_of(sources, "sources")
    with tape.backward_pass():
        pulled = [_pull_back(tape, one, 0, tensors, chunk_size) for one in targets]
    blocks = []
    for one, rows in zip(targets, pulled, strict=True):
        pairs = zip(rows, tensors, strict=True)
        made = {s._id: _finish(part, one.shape + s.shape, s, unconnected) for part, s in pairs}
        results = [made[s._id] for s in tensors]
        emit_outcomes(tape, "jacobian", [one], tensors, results, [part is not None for part in rows])
        blocks.append(rebuild(sources, iter(results)))
    return rebuild(target, iter(blocks))


def batch_jacobian(tape: Tape, target: Any, source: Any, unconnected: str, check: bool, chunk_size: int | None) -> Any:
    """Return the Jacobian of every sample; see `GradientTape.batch_jacobian`."""
    target, source = one_tensor(target, "batch_jacobian"), one_tensor(source, "batch_jacobian", "source")
    for name, tensor in (("target", target), ("source", source)):
        if tensor.ndim < 2:
            raise ValueError(
                f"the {name} of batch_jacobian has shape {tensor.shape}; it must have rank 2 or more, with one sample "
                "per row. Write x[:, None] if each sample is one number, or use jacobian"
            )
    batch, inner = target.shape[0], target.shape[1:]
    if batch != source.shape[0]:
        raise ValueError(
            f"target and source must have the same number of samples along their first axis; their shapes are "
            f"{target.shape} and {source.shape}"
        )
    with tape.backward_pass():
        (rows,) = _pull_back(tape, target, 1, [source], chunk_size)
        if check and rows is not None:
            _check_independence(tape, target, source, rows)
    if rows is not None:
        rows = np.moveaxis(rows, 0, 1)
    result = _finish(rows, (batch, *inner, *source.shape[1:]), source, unconnected)
    emit_outcomes(tape, "batch_jacobian", [target], [source], [result], [rows is not None])
    return result


def _pull_back(tape: Tape, target: Tensor, batch: int, sources: list[Tensor], chunk_size: Any) -> list[Any]:
    """Pull one one-hot seed per element of a sample back, in chunks if there are many; None for an unreached source."""
    if target.dtype.kind not in "fc":
        return [None] * len(sources)
    count = int(np.prod(target.shape[batch:]))

    def one_hot(rows: range) -> Any:
        seeds = Stack(OneHot(target.shape, batch, rows, target.dtype))
        if now().followers or _is_shown() or len(rows) * target._array.nbytes < SMALL:
            return dense(seeds)  # if recorded or shown it must be an array, and a small one is faster than a Stack
        return seeds

    return _in_chunks(tape, target, sources, count, _chunk(tape, count, chunk_size), one_hot)


def _is_shown() -> bool:
    return bool(now().heard[Seed] or now().heard[PullBack])


def pull_back_stack(tape: Tape, target: Tensor, sources: list[Tensor], seeds: Any) -> list[Any]:
    """Pull a stack of cotangents of one target back, in chunks if it is large; None for an unreached source."""
    if target.dtype.kind not in "fc":
        return [None] * len(sources)
    chunk = _chunk(tape, len(seeds), None)
    return _in_chunks(tape, target, sources, len(seeds), chunk, lambda rows: seeds[rows.start : rows.stop])


def _in_chunks(
    tape: Tape, target: Tensor, sources: list[Tensor], count: int, chunk: int, seeds: Callable[[range], Any]
) -> list[Any]:
    wanted, chunks = {s._id for s in sources}, list[list[Any]]()
    for start in range(0, max(count, 1), chunk):
        rows = range(start, min(start + chunk, count))
        seed = as_tensor(seeds(rows)) if recorder() else seeds(rows)  # so that all that rules compute is recorded
        cotangents = tape.seed([(target, seed)])
        for _ in tape.walk(cotangents, wanted, (len(rows),)):
            pass
        chunks.append([dense(cotangents.get(s._id)) for s in sources])
    if len(chunks) == 1:
        return chunks[0]
    return [None if parts[0] is None else np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def _chunk(tape: Tape, count: int, chunk_size: int | None) -> int:
    if chunk_size is None:
        largest = max(
            (max(_bytes(v) for v in (entry.output_value, *entry.values)) for entry in tape.entries), default=8
        )
        return max(1, min(count, LARGEST_STACK // max(largest, 1)))
    if not is_whole(chunk_size) or chunk_size < 1:
        raise ValueError(
            f"chunk_size is {chunk_size!r}; it must be a whole number of at least 1, or None to choose automatically"
        )
    return int(chunk_size)


def _bytes(value: Any) -> int:
    return int(getattr(value, "nbytes", 8))


def one_tensor(value: Any, caller: str, role: str = "target") -> Tensor:
    """Return the one tensor of a Jacobian's target or source; anything else is a TypeError."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"the {role} of {caller} must be one Tensor, not a {type(value).__name__}; call it once for each tensor, "
            "or join them with np.concatenate"
        )
    if role == "target":
        _check_real(value, f"the target of {caller}")
    return value


def real_tensors(target: Any, caller: str) -> list[Tensor]:
    """List the tensors of a Jacobian's targets; anything else among them is a TypeError."""
    tensors = tensors_of(target, "target")
    for (path, _), tensor in zip(flatten(target, f"the target of {caller}"), tensors, strict=True):
        _check_real(tensor, path)
    return tensors


def _check_real(tensor: Tensor, path: str) -> None:
    if tensor.dtype.kind == "c":
        raise TypeError(
            f"{path} is complex, and Jacobians of complex numbers depend on a convention; take np.real(target) or "
            "np.imag(target) to say which part you want"
        )


def _finish(rows: Any, shape: tuple[int, ...], source: Tensor, unconnected: str) -> Any:
    if rows is None:
        return wrap(np.zeros(shape, source.dtype)[()]) if unconnected == "zero" else None
    return as_tensor(np.reshape(rows, shape)[()] if shape == () else np.reshape(rows, shape))


def _check_independence(tape: Tape, target: Tensor, source: Tensor, rows: Any) -> None:
    """Pull one random cotangent back: if samples do not mix, it agrees with the blocks, sample by sample.

    What arrives at sample j is the sum over i of J_ij^T v_i, and the blocks are the sums over i of J_ij; only where
    J_ij = 0 for every other i can the two agree for a random v. Where they do not, it may still be rounding, or NaN.
    """
    rng = np.random.default_rng(0)
    probe = rng.standard_normal(target.shape).astype(target.dtype)
    batch, inputs, outputs = source.shape[0], int(np.prod(source.shape[1:])), int(np.prod(target.shape[1:]))

    def pull(cotangent: Any) -> Any:
        cotangents = {target._id: cotangent}
        for _ in tape.walk(cotangents, {source._id}):
            pass
        return np.asarray(cotangents[source._id]).reshape(batch, inputs)

    arrived = pull(probe)
    blocks = np.asarray(rows).reshape(outputs, batch, inputs)
    expected = np.einsum("mbs,bm->bs", blocks, probe.reshape(batch, outputs))
    scale = (np.abs(arrived) + np.abs(expected)).max(axis=1, initial=0)
    near = np.abs(arrived - expected).max(axis=1, initial=0) <= 1e3 * np.finfo(arrived.dtype).eps * scale
    if near.all():
        return
    mixed, hidden = _find_mixed(pull, probe, ~near)  # negated, so that samples with NaN are among them
    if mixed.any():
        raise ValueError(
            f"the samples are not independent: samples of the target depend on the samples "
            f"{_list_numbers(np.flatnonzero(mixed))} of the source other than their own, so a batch Jacobian makes no "
            "sense. Use jacobian, or remove what mixes samples (batch normalisation, a mean over axis 0)"
        )
    if hidden.any():
        raise ValueError(
            "check=True cannot tell whether the samples are independent: the derivatives with respect to the samples "
            f"{_list_numbers(np.flatnonzero(hidden))} of the source contain infinite numbers or NaN here, which hide "
            "the others. Check at another point"
        )


def _find_mixed(pull: Callable[[Any], Any], probe: Any, doubtful: Any) -> tuple[Any, Any]:
    """Find the samples that a cotangent of other samples reaches, and those where NaN hides whether it does.

    Half of the samples get a cotangent at a time, chosen by one digit of their binary numbers: any two samples differ
    in one of these digits.
    """
    numbers = np.arange(len(doubtful))
    mixed, hidden = np.zeros_like(doubtful), np.zeros_like(doubtful)
    for digit in range((len(doubtful) - 1).bit_length()):
        for side in (0, 1):
            given = (numbers >> digit) % 2 == side
            cotangent = probe * given.reshape(-1, *(1,) * (probe.ndim - 1)).astype(probe.dtype)
            with np.errstate(all="ignore"):
                grows, finite = grows_with(pull, cotangent)
            mixed |= doubtful & ~given & grows
            hidden |= doubtful & ~given & ~finite
    return mixed, hidden


def grows_with(respond: Callable[[Any], Any], given: Any) -> tuple[Any, Any]:
    """Return which rows of a linear response grow as what is given does; those that do not are 0 but for rounding.

    Returns
    -------
    grows : array of bool
        For each row of the response. Only its finite numbers count.
    finite : array of bool
        Whether all numbers of a row are finite.
    """
    factors = np.array([1.0, 0.57, -1.9, 0.31], given.dtype)
    rates = np.stack([respond(given * factor) / factor for factor in factors])
    known = np.isfinite(rates).all(axis=0)
    rates = np.where(known, rates, 0)
    size = np.abs(rates).max(axis=(0, -1), initial=0)
    apart = np.abs(rates - rates[0]).max(axis=(0, -1), initial=0)
    return (size > 0) & (apart <= max(1e-3, 30 * float(np.finfo(given.dtype).eps)) * size), known.all(axis=-1)


def _list_numbers(numbers: Any) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown} and {len(numbers) - 8} more" if len(numbers) > 8 else shown
