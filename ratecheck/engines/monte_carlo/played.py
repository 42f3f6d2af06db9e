"""Replicates that were played once: attempts at a constant whose runs are the same do not play them again."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ratecheck.engines.monte_carlo.stepwise import Run
from ratecheck.engines.setup import Setup

# The norm of the projected variable after the server's step, before the projection.
REACH = "reach"
# By that share a norm stays below the radius where rounding has nothing to say about it.
_MARGIN = 1e-9


class Played:
    """The replicates of a run, for other radii r of a ball whose projection never acts as well.

    The runs of one request differ in their step sizes alone, r among them. A projection leaves a run as it is where no
    norm, as `REACH` records it, comes up to the radius.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[str, range], Run] = {}
        self._sizes: dict[str, bytes] = {}
        self._radii: list[float] = []

    def run(self, setup: Setup, kind: str, wanted: range, simulate: Callable[[], Run]) -> Run:
        """The replicates ``wanted``, simulated unless they were; ``kind`` says what of them is recorded."""
        sizes = {name: np.asarray(value, dtype=float).tobytes() for name, value in setup.step_sizes.items()}
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
