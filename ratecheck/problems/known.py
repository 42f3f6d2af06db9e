"""What may be known of a problem beside gradients that are evaluated: engines say which of it they need."""

from __future__ import annotations

import enum


class Known(enum.Enum):
    """Facts about a problem by which its runs are followed without sampling.

    The family is closed: a problem says which it has (`Problem.knows`), an engine which it needs (`Engine.needs`), and
    neither asks for the other's class.
    """

    AFFINE = "every client's gradient is affine, with coefficients that `operator` has"
    PIECES = "every client's gradient is affine between kinks, and `pieces` has them in rationals"
    TYPES = "clients are counted by type: `multiplicities` says how many each row stands for"
    TWO_VALUED = "a sample is off by the same to either side, so that outcomes are followed and none is drawn"
