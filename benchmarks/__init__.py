"""What differentiating costs, as a ratio to the same thing written by hand in NumPy.

Run from the top of the checkout:

    python -m benchmarks                       the table, against every peer that is installed
    python -m benchmarks chain mlp-small       some workloads (`hessian` means both Hessians)
    python -m benchmarks --peers none          autodiff_edu against by hand alone
    python -m benchmarks --peers hips,pytorch  some peers
    python -m benchmarks --repeat 25           more pairs, steadier medians
    python -m benchmarks --growth              how the cost grows: log-log plots in benchmarks/plots/
    python -m benchmarks.compiling             compiled functions: what they cost, and what compiling them does
    python -m benchmarks.against ../before     another checkout, in pairs: what a change costs
    python -m benchmarks.mutants ../before     sixty faults, and which of them the tests (of another checkout) catch

The table is Markdown, on stdout; the progress bar and the notes are on stderr. The exit status is 1 if any
implementation disagreed with the result by hand.

How it is measured. Everything runs in one process, in float64, on one thread. Before anything is timed, every
implementation's result is compared with the one by hand; one that disagrees is an error, never a figure. Then the two
sides are timed alternately, and the ratio is the median of the ratios of neighbouring runs: a busy machine slows both
of a pair, so ratios hold to a few percent where times do not. The shorter of two is repeated until both last about
as long, and 10 ms at least. For the chain, the µs per operation are these ratios times the median by hand. Garbage
collection stays on, because a tape's user has it on; what the frameworks themselves keep alive is frozen first, so
that no peer pays for the objects of another.

`functions.py` holds the mathematics, written once for every namespace with NumPy's names; `workloads.py` the inputs,
the gradients by hand and those with the tape; `peers/` one module per framework, written as its users would;
`timing.py` the clocks; `growth.py` the plots; `compiling.py` compiled functions; `against.py` the comparison with
another checkout.
"""

import os

# one thread for everyone; set here, before NumPy is imported, because its BLAS looks once
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "BLIS")
os.environ.update({f"{name}_NUM_THREADS": "1" for name in THREADS})
os.environ["NPROC"] = "1"  # JAX's pool of threads
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
