"""Exact moments where coordinates with the clients' common curvature do not touch the others: each part on its own.

A linear method acts on every coordinate alike. Where no Hessian couples two sets of coordinates, both follow rounds of
their own, with the same participants and with noise that is uncorrelated; and a recorded quantity is a sum of products
within either set, so that its expectation is the sum of those of two runs. Clients of the first may then be `alike`,
which they are not in the whole: such are personal models beside a shared one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments.moment import EPS
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import alike

# Entries of all clients' states from which on the parts take less time than the whole.
_LEAST = 200


def parts(setup: Setup) -> list[Setup]:
    """The runs on coordinates with a common curvature and on the others; none where that is no saving."""
    quadratic = setup.problem.quadratic
    if quadratic is None or not _divisible(setup):
        return []
    common = _common(quadratic.H)
    if not 0 < len(common) < quadratic.d or alike.pays(setup):
        return []
    first, other = (_on(setup, each) for each in (common, np.setdiff1d(np.arange(quadratic.d), common)))
    return [first, other] if alike.pays(first) else []


def of_blocks(setup: Setup) -> list[Setup]:
    """The runs on shared and on personal variables; none where anything couples these, or where that is no saving."""
    quadratic = setup.problem.quadratic
    if quadratic is None or not _divisible(setup) or not 0 < quadratic.d_u < quadratic.d:
        return []
    shared, personal = np.split(np.arange(quadratic.d), [quadratic.d_u])
    if quadratic.H[:, shared[:, None], personal].any():
        return []
    return [_on(setup, each) for each in (shared, personal)]


def _divisible(setup: Setup) -> bool:
    """Whether a method acts on every coordinate alike, of a state that is large enough to be divided."""
    algorithm = setup.algorithm
    size = setup.problem.n * sum(setup.sizes[block] for block in algorithm.client.values())
    if size < _LEAST or not algorithm.tabled or algorithm.measures:
        return False
    return not setup.law.relative and setup.trace.partition is None


def _common(H: NDArray[np.float64]) -> NDArray[np.intp]:
    """Coordinates of which no Hessian couples any with one whose row differs from client to client."""
    differ = (H[0] != H).any(axis=(0, 2))
    coupled = (H != 0).any(axis=0)
    while (reached := differ | coupled[differ].any(axis=0)).sum() > differ.sum():
        differ = reached
    return np.flatnonzero(~differ)


def _on(setup: Setup, kept: NDArray[np.intp]) -> Setup:
    """The run on some of the coordinates."""
    problem = setup.problem.single
    for c in reversed(range(problem.d)):
        if c not in kept:
            problem = problem.without_variable(c)
    return replace(setup, problem=problem, point=setup.point[:, kept], noise=setup.noise[kept])


def together(found: Iterable[Expectation]) -> Expectation:
    """The sum of expectations of the parts of a run."""
    first, *others = found
    records, errors = dict(first.records), dict(first.errors)
    for other in others:
        records = {name: array + other.records[name] for name, array in records.items()}
        errors = {name: array + other.errors[name] + EPS * np.abs(records[name]) for name, array in errors.items()}
    return replace(first, records=records, errors=errors)
