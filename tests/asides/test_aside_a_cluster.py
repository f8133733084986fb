"""What chapter 27 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_what_spreads_a_batch_over_workers_is_there():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    assert callable(torch.nn.parallel.DistributedDataParallel)
    assert callable(torch.nn.SyncBatchNorm)
    assert callable(jax.shard_map)
