"""Expectations of recorded quantities round by round, on the smallest state that says them."""

from __future__ import annotations

from ratecheck.aliases import Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import coordinates
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


def recursion(setup: Setup) -> Moments:
    """`moments_of`, or that of clients that are alike, of modes or of coordinates where its state is smaller."""
    if graph_modes.applies(setup):
        return graph_modes.GraphMoments(setup)
    if alike.pays(setup):
        return alike.moments(setup)
    size = setup.problem.n * sum(setup.sizes[block] for block in setup.algorithm.client.values())
    return CoordinateMoments(setup) if size >= _LEAST and coordinates.applies(setup) else moments_of(setup)
