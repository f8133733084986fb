"""What does not work over Dask, by the names of the cases: the one place that says so, and the tests hold it to it."""


def names(text):
    return {name.strip() for name in text.split("|") if name.strip()}


# Dask has no such function, or not with these options or chunks
DASK_LACKS = names("""
    convolve (2,) and (4,), full | convolve (2,) and (4,), same | convolve (2,) and (4,), valid |
    convolve (3,) and (1,), same | convolve (3,) and (1,), valid | convolve (4,) and (4,), full |
    convolve (4,) and (4,), same | convolve (4,) and (4,), valid | convolve (5,) and (3,), full |
    convolve (5,) and (3,), same | convolve (5,) and (3,), valid | convolve of a constant | gather | interp |
    interp by every argument | interp left and right | interp of a scalar | linalg cholesky |
    linalg cholesky upper | linalg cholesky, batch | linalg cofactors, batch, one singular | linalg cond |
    linalg cond -2 | linalg cond 1 | linalg det | linalg det of 1 by 1 | linalg det of a singular matrix |
    linalg det of rank 1 | linalg det of zeros | linalg det, batch | linalg diagonal | linalg eig, both, batch |
    linalg eig, complex pair | linalg eig, vectors | linalg eigh, batch | linalg eigh, sizes of vectors |
    linalg eigh, upper triangle | linalg eigh, values | linalg eigh, vectors | linalg eigvals | linalg eigvalsh |
    linalg eigvalsh UPLO | linalg inv, batch | linalg lstsq, wide, matrix | linalg norm -2, axis=(2, 0) |
    linalg norm 2, axis=(0, -1), keepdims | linalg norm 2, axis=(2, 0) | linalg norm nuc, axis=(0, -1), keepdims |
    linalg norm nuc, axis=(2, 0) | linalg norm of three axes | linalg norm of three axes, keepdims |
    linalg pinv, batch | linalg pinv, square | linalg pinv, tall | linalg pinv, wide |
    linalg qr, batch | linalg slogdet, batch | linalg slogdet, logarithm | linalg slogdet, sign and logarithm |
    linalg solve by an array | linalg solve, batch and one vector | linalg solve, batch of matrices |
    linalg solve, broadcast | linalg solve, one matrix and batch | linalg svd, batch | linalg svd, square |
    linalg svd, values | linalg svd, wide | linalg svdvals | linalg trace | nan_to_num options | partition |
    partition axis=0 | reshape | reshape in Fortran's order | reshape to more axes | sort | sort axis=0 |
    sort kind | sort stable=True | take axis=1 | take_along_axis | take_along_axis axis=0 | take_along_axis, broadcast |
    reshape in Fortran's order, as a method |
    where of indices | x.diagonal() | x[[0, 0, 0], [1, 1, 2], [1, 1, 0]] | x[[0, 1], [2, 2]] |
    x[[0, 2], :, [1, 0]] | x[[[0], [2]], [1, 3]] | x[np.array(1)] | x[np.array([True, False, True]), [1, 1]] |
    x[np.array([[0, 1], [1, 1]])] | correlate (2,) and (5,), full | correlate (2,) and (5,), same |
    correlate (2,) and (5,), valid | correlate (4,) and (4,), full | correlate (4,) and (4,), same |
    correlate (4,) and (4,), valid | correlate (5,) and (3,), full | correlate (5,) and (3,), same |
    correlate (5,) and (3,), valid | correlate by default | piecewise | piecewise with a tensor |
    piecewise with options | piecewise with otherwise | trim_zeros of nothing else |
""")

# Dask has the function, but we spell it, or its rule, in what Dask has not: indexing along several axes at once, and
# sizes that are known beforehand. Each raises Dask's own error.
OUR_SPELLING_NEEDS_MORE = names("""
    diag of a matrix | diagonal | diagonal beyond | diagonal offset=-1 axes | diagonal offset=1 |
    linalg cofactors of a singular matrix |
    median axis=-1 keepdims | median axis=0 |
    percentile of several axis=-1 | quantile axis=(1, 0) | quantile axis=0 keepdims | quantile axis=1 | scatter |
    take one | trace | trace offset | x.trace | x[0:0] | x[mask] | x[np.arange(24).reshape(3, 4, 2) % 3 == 0] |
    nanmedian: axis=(-1, 1) | nanmedian: axis=(-1, 1) keepdims | nanmedian: axis=(0, 2) |
    nanmedian: axis=(0, 2) keepdims | nanmedian: axis=-1 | nanmedian: axis=-1 keepdims | nanmedian: axis=0 |
    nanmedian: axis=0 keepdims | nanpercentile of several axis=-1 | nanquantile axis=0 keepdims |
    nanquantile axis=1 | piecewise of a scalar | piecewise of comparisons | quantile of several, keepdims |
""")

# Singular values alone: Dask's svd always makes the vectors too, so NumPy's is asked, and gives a NumPy array
COMPUTED_AT_ONCE = names("""
    linalg lstsq, singular values | linalg norm -2 of a matrix | linalg norm 2 of a matrix |
    linalg norm nuc of a matrix |
""")
