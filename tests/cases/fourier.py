"""Cases of np.fft."""

import numpy as np

from .case import case

FFT = np.fft


def transform(name, text, shape, of=None):
    """A case of np.fft's function of that name, with options written as text, perhaps of a function of x."""
    function, options = getattr(FFT, name), eval(f"dict({text})")
    return case(f"fft {name}({text}) of {shape}", lambda x: function(x if of is None else of(x), **options), shape)


CASES = [
    *(
        transform(name, text, shape)
        for name in ("fft", "ifft")
        for text, shape in [
            ("", (5,)),
            ("", (2, 4)),
            ("n=3", (2, 5)),
            ("n=6, axis=0", (4, 2)),
            ("axis=-2, norm='ortho'", (2, 3, 2)),
            ("n=4, norm='forward'", (3,)),
            ("norm='backward'", (1,)),
        ]
    ),
    *(
        transform(name, text, shape, of=np.real)
        for name in ("rfft", "ihfft")
        for text, shape in [
            ("", (5,)),
            ("n=None", (2, 6)),
            ("n=3", (2, 5)),
            ("n=6, axis=0", (4, 2)),
            ("n=4, norm='forward'", (3,)),
            ("axis=1, norm='ortho'", (2, 3, 2)),
        ]
    ),
    *(
        transform(name, text, shape)
        for name in ("irfft", "hfft")
        for text, shape in [
            ("", (4,)),
            ("n=5", (2, 3)),
            ("n=4, norm='ortho'", (5,)),
            ("n=8, axis=0", (3, 2)),
            ("n=3, axis=-2, norm='forward'", (2, 4, 2)),
        ]
    ),
    *(
        transform(name, text, shape)
        for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn")
        for text, shape in [
            ("", (3, 4)),
            ("norm='ortho'", (2, 3, 2)),
            ("s=(2, 5), axes=(0, 2)", (3, 2, 4)),
            ("s=(4, -1), axes=(-1, -2), norm='forward'", (2, 3, 3)),
        ]
    ),
    *(
        transform(name, text, shape, of=np.real)
        for name in ("rfft2", "rfftn")
        for text, shape in [
            ("", (3, 4)),
            ("norm='ortho'", (2, 3, 2)),
            ("s=(2, 5), axes=(0, 2)", (3, 2, 4)),
            ("s=(4, -1), axes=(-1, -2), norm='forward'", (2, 3, 3)),
        ]
    ),
    case("fft fftshift", FFT.fftshift, (5, 2)),
    case("fft fftshift axes=1", lambda x: FFT.fftshift(x, axes=1), (2, 5)),
    case("fft ifftshift", FFT.ifftshift, (5, 2)),
    case("fft ifftshift axes=(0, -1)", lambda x: FFT.ifftshift(x, axes=(0, -1)), (3, 2, 5)),
    case("fft convolution", lambda x, y: FFT.irfft(FFT.rfft(x, 8) * FFT.rfft(y, 8), 8), (4,), (5,), real=True),
]
