"""Makes the film at the top of README, of the program on the book's front page.

    python book/_ext/picture.py

It plays where no script runs: in README, and on the front page in place of the player.
"""

from __future__ import annotations

from pathlib import Path

from first_program import f

import autodiff_edu as ad
from autodiff_edu.player.print.film import Film

PICTURE = Path(__file__).parents[1] / "images" / "player.svg"


def film() -> Film:
    """Return the film: 12 seconds, without the first input and the last derivative."""
    player = ad.play(f, 2.0, 3.0)
    return player.film(*player.film().steps[1:-1])


if __name__ == "__main__":
    film().save(PICTURE)
    print(f"{PICTURE}: {film().seconds:g} seconds, {PICTURE.stat().st_size / 1000:.0f} kB")
