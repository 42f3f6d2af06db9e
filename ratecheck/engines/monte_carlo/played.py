"""Runs that were followed once: attempts at a constant whose runs are the same do not follow them again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ratecheck.engines.monte_carlo.stepwise import Run
from ratecheck.engines.setup import Setup

# The norm of the projected variable after the server's step, before the projection.
REACH = "reach"
# By that share a norm stays below the radius where rounding has nothing to say about it.
_MARGIN = 1e-9

_Found = TypeVar("_Found")


class Played:
    """The replicates of a run, for other radii r of a ball whose projection never acts as well.

    The runs of one request differ in their step sizes alone, r among them. A projection leaves a run as it is where no
    norm, as `REACH` records it, comes up to the radius.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, range], Run] = {}
        self._sizes: dict[str, bytes] = {}
        self._radii: list[float] = []
        self._whole: dict[str, tuple[dict[str, bytes], Any]] = {}

    def once(self, setup: Setup, what: str, follow: Callable[[], _Found]) -> _Found:
        """``what`` is computed of a run as a whole, unless it was of the last one and that had the same step sizes."""
        sizes = _in_bytes(setup)
        if what not in self._whole or self._whole[what][0] != sizes:
            self._whole[what] = sizes, follow()
        found: _Found = self._whole[what][1]
        return found

    def run(self, setup: Setup, kind: str, wanted: range, simulate: Callable[[], Run]) -> Run:
        """The replicates ``wanted``, simulated unless they were; ``kind`` says what of them is recorded."""
        sizes = _in_bytes(setup)
        radius = math.inf
        if setup.algorithm.projects:
            radius = float(setup.step_sizes["r"])
            del sizes["r"]
        if sizes != self._sizes or not self._free([*self._radii, radius]):
            self._runs, self._sizes, self._radii = {}, sizes, []
        self._radii = [*{*self._radii, radius}]
        key = kind, wanted
        if key not in self._runs:
            self._runs[key] = simulate()
        return self._runs[key]

    def _free(self, radii: list[float]) -> bool:
        """Whether all that was played is the same with each of the radii."""
        if len({*radii}) == 1:
            return True
        told = {wanted: run.records[REACH] for (_, wanted), run in self._runs.items() if REACH in run.records}
        known = {replicate for wanted in told for replicate in wanted}
        within = all(bool((each < (1 - _MARGIN) * min(radii)).all()) for each in told.values())
        return within and all(known.issuperset(wanted) for _, wanted in self._runs)


def _in_bytes(setup: Setup) -> dict[str, bytes]:
    """The step sizes of a run, for a comparison in which NaN equals itself."""
    return {name: np.asarray(value, dtype=float).tobytes() for name, value in setup.step_sizes.items()}
