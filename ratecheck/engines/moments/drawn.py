"""Exact moments of runs that differ in who takes part alone, followed together: a kernel makes a round of all of them.

Coordinates are stacked as in `coordinates`, along an axis after that of the runs. What a client adds in a round depends
on the client, its delay and on how many take part; it is found once for all runs, and a round of all of them takes from
it what their participants add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array, Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments.coordinates import CoordinateMoments
from ratecheck.engines.moments.expectation import Recorder, single_threaded
from ratecheck.engines.moments.moment import Moment
from ratecheck.engines.setup import Setup
from ratecheck.kernels.moments import carry_rounds

# Numbers of all matrices that are followed at once, and what is kept of clients, at most.
_AT_ONCE, _KEPT = 2**23, 2**24


def together(setups: Sequence[Setup]) -> list[list[int]]:
    """Positions of the runs that differ in their trace alone, in the order of the first of each."""
    found: dict[tuple[object, ...], list[int]] = {}
    for k, setup in enumerate(setups):
        parts = (getattr(setup, field.name) for field in fields(setup) if field.name != "trace")
        found.setdefault(tuple(_key(part) for part in parts), []).append(k)
    return list(found.values())


def _key(part: object) -> object:
    """What is equal where two parts of a setup are."""
    if isinstance(part, np.ndarray):
        return part.shape, part.tobytes()
    if isinstance(part, dict):
        return tuple((name, _key(value)) for name, value in part.items())
    try:
        hash(part)
    except TypeError:
        return id(part)
    return part


def expect(setups: Sequence[Setup], *, progress: Progress | None = None) -> list[Expectation]:
    """Expectations of all recorded quantities of runs that are `together`, for which `coordinates.applies`."""
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        moments = CoordinateMoments(setups[0])
        start, recorder = moments.start(), moments.recorder()
        size = max(_AT_ONCE // (3 * len(moments.parts) * moments.size**2), 1)
        found: list[Expectation] = []
        for first in range(0, len(setups), size):
            found += _DrawnRuns(moments, setups[first : first + size]).expectations(start, recorder)
            if progress is not None:
                progress(len(found) / len(setups))
    return found


class _DrawnRuns:
    """The runs of one recursion on several traces."""

    def __init__(self, moments: CoordinateMoments, setups: Sequence[Setup]) -> None:
        self._moments, self._setups, self._T = moments, setups, setups[0].T
        self._taking = np.stack([np.asarray(setup.trace.fixed(self._T)) for setup in setups])
        self._last = np.full(self._taking.shape[::2], -1)
        # Where what a client adds stands among all that was found, by its delay, for each number of participants.
        self._known: dict[int, NDArray[np.intp]] = {}
        self._added: tuple[Array, ...] = ()
        self._server: dict[int, tuple[Array, Array]] = {}

    def expectations(self, start: Moment, recorder: Recorder) -> list[Expectation]:
        """The recorded quantities, run by run, from the same start."""
        moment = _of_all(start, lambda each: np.tile(each, (len(self._setups), 1, 1, 1)))
        values, errors = np.empty((2, len(recorder.names), len(self._setups), self._T))
        for t in range(self._T):
            found, wrong = recorder.record(moment)
            values[..., t], errors[..., t] = found.T, wrong.T
            if t + 1 < self._T:
                moment = self._advance(moment, t)
        names = recorder.names
        return [
            Expectation(
                dict(zip(names, values[:, r], strict=True)),
                dict(zip(names, errors[:, r], strict=True)),
                setup.metric,
                setup.trace.rate,
            )
            for r, setup in enumerate(self._setups)
        ]

    def _advance(self, moment: Moment, t: int) -> Moment:
        """The moments after round t, in the place of those before it: runs with as many participants go together."""
        taking, moments = self._taking[:, t], self._moments
        delays = np.ones(taking.shape, dtype=np.intp)
        if moments.setup.algorithm.uses_delay:
            delays = t - self._last
            self._last[taking] = t
        counts = taking.sum(axis=1)
        for count in np.unique(counts).tolist():
            runs = np.flatnonzero(counts == count)
            members = np.ascontiguousarray(np.nonzero(taking[runs])[1].reshape(len(runs), count))
            keep, to_server = self._aggregate(count)
            places = self._places(members, delays[runs[:, None], members], to_server)
            carry_rounds(
                runs, members, places, keep, moments.distinct, self._added,
                moment.mean, moment.covariance, moment.off, moment.rounding,
            )  # fmt: skip
        # What was found of the moment before does not hold of the one after.
        return _finite(replace(moment))

    def _aggregate(self, count: int) -> tuple[Array, Array]:
        """What the server keeps of itself, and what it makes of clients, where so many take part."""
        if count not in self._server:
            keep, to_server = self._moments.rounds_of.aggregate(count)
            servers = slice(self._moments.server)
            self._server[count] = np.ascontiguousarray(keep[servers, servers]), to_server
        return self._server[count]

    def _places(self, members: NDArray[np.intp], delays: NDArray[np.intp], to_server: Array) -> NDArray[np.intp]:
        """Where what these clients add stands among all that was found, which is `found` where it is new."""
        if sum(each.size for each in self._added) > _KEPT:
            self._known, self._added = {}, ()
        nothing = np.full((self._moments.n, self._T + 1), -1)
        known = self._known.setdefault(members.shape[1], nothing)
        unknown = known[members, delays] < 0
        if unknown.any() or not self._added:
            new = np.unique(np.stack([members[unknown], delays[unknown]], axis=1), axis=0)
            found = self._moments.found([(int(i), float(delay)) for i, delay in new], to_server)
            before = self._added or tuple(each[:0] for each in found)
            known[new[:, 0], new[:, 1]] = len(before[0]) + np.arange(len(new))
            self._added = tuple(np.concatenate(each) for each in zip(before, found, strict=True))
        return known[members, delays]


_ARRAYS = tuple(field.name for field in fields(Moment))


def _of_all(moment: Moment, change: Callable[[Array], Array]) -> Moment:
    """The moment of which every array is changed so."""
    return Moment(*(change(getattr(moment, name)) for name in _ARRAYS))


def _finite(moment: Moment) -> Moment:
    """The moment, NaN in the runs in which one overflowed."""
    sums = moment.covariance.sum(axis=(1, 2, 3)) + moment.mean.sum(axis=(1, 2, 3))
    if np.isfinite(sums).all():
        return moment
    beyond = ~np.isfinite(sums)[:, None, None, None]
    return _of_all(moment, lambda each: np.where(beyond, np.nan, each))
