"""The peers that happen to be installed, each as one or two columns of the table; our compiled functions are one too.

A peer has a `title`, the `module` whose import time counts, a method for each kind of workload that it can do, which
takes the workload and gives a function without arguments, and `numpy`, which turns a result into arrays. Inputs are
converted before the clock starts; results stay as the framework gives them until it has stopped. A workload that a
framework cannot do raises `UnsupportedError`, with the reason.
"""

from __future__ import annotations

import importlib
import importlib.util

MODULES = {
    "autodiff_edu": ("compiled", ["compiled"]),
    "torch": ("pytorch", ["pytorch", "torch.func"]),
    "jax": ("with_jax", ["jax", "jax.jit"]),
    "autograd": ("hips", ["hips"]),
    "mygrad": ("with_mygrad", ["mygrad"]),
    "tensorflow": ("with_tensorflow", ["tensorflow", "tf.function"]),
}
"""Each package that may be installed, the module here that speaks for it, and its columns' names, in their order."""


class UnsupportedError(Exception):
    """A peer cannot do this workload; the message says why."""


def installed(chosen, note):
    """Load the peers that are installed; `chosen` is "all", "none", or names separated by commas."""
    every = [name for _, names in MODULES.values() for name in names]
    wanted = {"all": every, "none": []}.get(chosen, chosen.split(","))
    unknown = set(wanted) - set(every)
    if unknown:
        raise SystemExit(f"no peer {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    peers = []
    for package, (module, names) in MODULES.items():
        if set(names).isdisjoint(wanted) or importlib.util.find_spec(package) is None:
            continue
        try:
            loaded = importlib.import_module(f".{module}", __name__).PEERS
        except Exception as error:  # a broken installation of one peer must not cost the others their figures
            note(f"{package} is installed but does not import: {error}")
        else:
            peers += [peer for peer in loaded if peer.name in wanted]
    return peers
