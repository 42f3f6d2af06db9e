"""Expectations of recorded quantities round by round, on the smallest state that says them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ratecheck.aliases import Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import coordinates, drawn
from ratecheck.engines.moments.coordinates import CoordinateMoments
from ratecheck.engines.moments.expectation import Moments, follow
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import alike, graph_modes, separate
from ratecheck.engines.types.populations import check, moments_of

# Entries of all clients' states from which on coordinates take less time than the whole.
_LEAST = 50


def expect(setup: Setup, *, progress: Progress | None = None) -> Expectation:
    """`exact.expect`, clients that are alike taken together; raises `InputError` as `populations.check` does."""
    check(setup)
    if runs := separate.parts(setup):
        return separate.together(follow(each, recursion, progress=progress) for each in runs)
    return follow(setup, recursion, progress=progress)


def expect_each(setups: Sequence[Setup], *, progress: Progress | None = None) -> list[Expectation]:
    """`expect` of several runs, what is found of one not depending on the others.

    Those that are followed by coordinates, and differ in who takes part and in step sizes alone, are followed together.
    """
    found: dict[int, Expectation] = {}

    def told(share: float) -> None:
        if progress is not None:
            progress((len(found) + share) / len(setups))

    for places in drawn.together(setups, "step_sizes"):
        for k in places:
            check(setups[k])
        by_coordinates = [k for k in places if _by_coordinates(setups[k])]
        found |= zip(by_coordinates, drawn.expect([setups[k] for k in by_coordinates], progress=told), strict=True)
        for k in places:
            if k not in found:
                found[k] = expect(setups[k], progress=told)
    return [found[k] for k in range(len(setups))]


def recursion(setup: Setup) -> Moments:
    """`moments_of`, or that of clients that are alike, of modes or of coordinates where its state is smaller."""
    return _smallest(setup)(setup)


def _smallest(setup: Setup) -> Callable[[Setup], Moments]:
    """The kind of `recursion` that a run has."""
    if graph_modes.applies(setup):
        return graph_modes.GraphMoments
    if alike.pays(setup):
        return alike.moments
    return CoordinateMoments if _coordinates_pay(setup) else moments_of


def _by_coordinates(setup: Setup) -> bool:
    """Whether all coordinates of a run are followed, and nothing else."""
    return not separate.parts(setup) and _smallest(setup) is CoordinateMoments


def _coordinates_pay(setup: Setup) -> bool:
    """Whether coordinates can be followed apart, and that takes less time."""
    size = setup.problem.n * sum(setup.sizes[block] for block in setup.algorithm.client.values())
    return size >= _LEAST and coordinates.applies(setup)
