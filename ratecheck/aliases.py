"""Types that many modules name."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Real numbers in double precision.
Array = NDArray[np.float64]
# Called with the share of the work that is done, from 0 to 1.
Progress = Callable[[float], None]
