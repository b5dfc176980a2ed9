"""``math`` as user functions see it on a GPU, where Numba's floor and ceil give floats."""

import math
from math import *  # noqa: F403

from numba import njit


@njit  # type: ignore[no-redef]
def floor(x):
    """The largest whole number that is not above ``x``, int64."""
    return int(math.floor(x))  # noqa: RUF046  a float here


@njit  # type: ignore[no-redef]
def ceil(x):
    """The smallest whole number that is not below ``x``, int64."""
    return int(math.ceil(x))  # noqa: RUF046
