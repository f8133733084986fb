"""What the chapter on a GPT says of PyTorch."""

import numpy as np
import pytest

from autodiff_edu.course.chapters.a_gpt import SCENES, divide, hide, softmax

pytestmark = pytest.mark.asides


def test_pytorch_has_causal_attention_as_one_function():
    torch = pytest.importorskip("torch")
    for scene in SCENES:
        found = torch.nn.functional.scaled_dot_product_attention(*map(torch.tensor, scene), is_causal=True)
        queries, keys, values = scene
        scores = hide(queries @ keys.T / divide(queries), before=len(queries))
        np.testing.assert_allclose(found.numpy(), softmax(scores) @ values, atol=1e-12)
