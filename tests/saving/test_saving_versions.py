"""Files that earlier versions wrote are loaded, and are the functions that they were."""

import numpy as np
import of_0_1_0 as first
import pytest

import autodiff_edu as ad
from autodiff_edu.arrays.structures import flatten


@pytest.mark.parametrize("function", first.EXAMPLES, ids=lambda function: function.__name__)
def test_files_that_0_1_0_saved_load_and_have_the_same_values_and_derivatives(function):
    loaded, examples = ad.load(first.FOLDER / f"{function.__name__}.ad"), first.EXAMPLES[function]
    assert loaded.__name__ == function.__name__

    def asked(f, variables):
        tensors = [ad.constant(leaf) for _, leaf in flatten(examples, "")]
        parts = iter(tensors)
        given = [rebuilt(example, parts) for example in examples]
        watched = [tensor for tensor in tensors if tensor.dtype.kind in "fc"]
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(watched)
            y = f(*given)
            total = sum(np.sum(leaf * leaf) for _, leaf in flatten(y, ""))
        return [*(leaf for _, leaf in flatten(y, "")), *tape.gradient(total, [*watched, *variables])]

    names = {variable.name for variable in loaded.variables}
    for ours, theirs in zip(
        asked(loaded, [v for v in loaded.variables if v.trainable]),
        asked(function, [v for v in (first.W, first.B) if v.name in names]),
        strict=True,
    ):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


def rebuilt(example, parts):
    """The structure of an example with the next tensors in it."""
    if isinstance(example, dict):
        return {key: rebuilt(part, parts) for key, part in example.items()}
    return [rebuilt(part, parts) for part in example] if isinstance(example, list) else next(parts)


def test_there_is_a_file_of_every_function_and_no_other():
    assert {path.stem for path in first.FOLDER.iterdir()} == {function.__name__ for function in first.EXAMPLES}
