"""Exact moments of runs that differ in who takes part, and in step sizes: a kernel makes a round of all of them.

Coordinates are stacked as in `coordinates`, along an axis after that of the runs. With given step sizes, what a client
adds in a round depends on the client, its delay and on how many take part; it is found once for all runs with these
step sizes, and a round of all runs takes from it what their participants add.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array, Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments.coordinates import CoordinateMoments
from ratecheck.engines.moments.expectation import Recorder
from ratecheck.engines.moments.moment import Moment
from ratecheck.engines.setup import Setup
from ratecheck.execution.one_thread import single_threaded
from ratecheck.kernels.moments.drawn import beside, carry_rounds

# Numbers of all matrices that are followed at once, and what is kept of clients, at most.
_AT_ONCE, _KEPT = 2**23, 2**24
# Different step sizes at once, at most: for each of them, what clients add is kept.
_STEP_SIZES = 16


def together(setups: Sequence[Setup], *but: str) -> list[list[int]]:
    """Positions of the runs that differ in their trace and these fields alone, in the order of the first of each."""
    found: dict[tuple[object, ...], list[int]] = {}
    for k, setup in enumerate(setups):
        parts = (getattr(setup, field.name) for field in fields(setup) if field.name not in ("trace", *but))
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
    """Expectations of all recorded quantities of runs for which `coordinates.applies`.

    They are `together` but for their step sizes. Those with the same ones share what their clients add, and those whose
    records are the same functions of the state are recorded at once.
    """
    found: dict[int, Expectation] = {}
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        for group in _groups(setups):
            places = [k for each in group.recursions for k in each.places]
            followed = _DrawnRuns(group, [setups[k] for k in places]).expectations()
            found |= zip(places, followed, strict=True)
            if progress is not None:
                progress(len(found) / len(setups))
    return [found[k] for k in range(len(setups))]


@dataclass(frozen=True)
class _Recursion:
    """The recursion of the runs at some ``places`` of a sequence, which have the same step sizes, and their start."""

    moments: CoordinateMoments
    start: Moment
    places: list[int]


@dataclass(frozen=True)
class _Group:
    """Runs that are recorded at once."""

    recorder: Recorder
    recursions: list[_Recursion]

    @property
    def count(self) -> int:
        """The number of runs."""
        return sum(len(each.places) for each in self.recursions)


def _groups(setups: Sequence[Setup]) -> Iterator[_Group]:
    """All runs, in groups of one recorder that are no larger than what is followed at once."""
    group: _Group | None = None
    recorded: tuple[object, ...] = ()
    for places in together(setups):
        moments = CoordinateMoments(setups[places[0]])
        start, own = moments.start(), moments.parts[0].plan.content
        size = max(_AT_ONCE // (3 * len(moments.parts) * moments.size**2), 1)
        for first in range(0, len(places), size):
            more = _Recursion(moments, start, places[first : first + size])
            full = group and (len(group.recursions) == _STEP_SIZES or group.count + len(more.places) > size)
            if group and (full or recorded != own):
                yield group
                group = None
            if group is None:
                group, recorded = _Group(moments.recorder(), []), own
            group.recursions.append(more)
    if group:
        yield group


class _DrawnRuns:
    """Runs on several traces, ``setups`` in the order of their step sizes."""

    def __init__(self, group: _Group, setups: Sequence[Setup]) -> None:
        self._recursions, self._entries = group.recursions, group.recorder.narrow()
        self._recorder = group.recorder
        self._setups, self._T = setups, setups[0].T
        # The number of a run's recursion.
        self._own = np.repeat(np.arange(len(group.recursions)), [len(each.places) for each in group.recursions])
        self._taking = np.stack([np.asarray(setup.trace.fixed(self._T)) for setup in setups])
        self._counts = self._taking.sum(axis=2)
        self._delays = np.ones(self._taking.shape, dtype=np.intp)
        if setups[0].algorithm.uses_delay:
            self._delays = _delays(self._taking)
        # Where what a client adds stands among all that was found, by recursion, client and delay, for each number of
        # participants.
        self._known: dict[int, NDArray[np.intp]] = {}
        self._added: tuple[Array, ...] = ()
        self._filled = 0
        self._server: dict[tuple[int, int], tuple[Array, Array]] = {}

    def expectations(self) -> list[Expectation]:
        """The recorded quantities, run by run."""
        starts = [self._recursions[k].start for k in self._own.tolist()]
        mean = np.stack([each.mean[..., 0] for each in starts])
        matrices = beside(*(np.stack([getattr(each, name) for each in starts]) for name in _MATRICES))
        recorder, runs = self._recorder, len(starts)
        values, errors = np.empty((2, len(recorder.names), runs, self._T))
        many = self._rounds_at_once()
        for first in range(0, self._T, many):
            rounds = slice(first, min(first + many, self._T))
            told = recorder.record(self._advance(mean, matrices, rounds))
            for whole, part in zip((values, errors), told, strict=True):
                whole[..., rounds] = part.T.reshape(len(whole), runs, -1)
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

    def _rounds_at_once(self) -> int:
        """How many rounds every run makes before it is the turn of the next: what is kept of them has a limit."""
        moments, runs = self._recursions[0].moments, len(self._own)
        s, parts = moments.server + moments.client, len(moments.parts)
        added = int(self._counts.max()) * parts * (3 * s + 4) * s
        told = 3 * parts * len(self._entries) ** 2
        return max(min(_KEPT // (runs * max(added, 1)), _AT_ONCE // (runs * told)), 1)

    def _advance(self, mean: Array, matrices: Array, rounds: slice) -> Moment:
        """The recorded entries before these rounds, (runs times rounds, ...), and all after them in their place."""
        members, places = self._participants(rounds)
        shape, many = (*members.shape[:2], mean.shape[1]), len(self._entries)
        means, found = np.empty((*shape, many)), np.empty((*shape[:2], 3, shape[2], many, many))
        first = self._recursions[0].moments
        keep = np.zeros((members.shape[2] + 1, first.server, first.server))
        runs = np.arange(len(members))
        for own, each in enumerate(self._recursions):
            at = runs[self._own == own]
            for count in np.unique(self._counts[at, rounds]).tolist():
                keep[count] = self._aggregate(own, count)[0]
            carry_rounds(
                at, members[at], places[at], keep, each.moments.distinct, self._added, mean, matrices,
                self._entries, means, found,
            )  # fmt: skip
        means, found = means.reshape(-1, *means.shape[2:], 1), found.reshape(-1, *found.shape[2:])
        nothing = np.zeros_like(means)
        return Moment(means, found[:, 0], found[:, 1], found[:, 2], nothing, nothing)

    def _aggregate(self, own: int, count: int) -> tuple[Array, Array]:
        """What the server keeps of itself, and what it makes of clients, where so many take part."""
        if (own, count) not in self._server:
            moments = self._recursions[own].moments
            keep, to_server = moments.rounds_of.aggregate(count)
            self._server[own, count] = keep[: moments.server, : moments.server], to_server
        return self._server[own, count]

    def _participants(self, rounds: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Participants (runs, rounds, most) and where stands what they add, -1 after the last one."""
        if sum(each.size for each in self._added) > _KEPT:
            self._known, self._added, self._filled = {}, (), 0
        counts = self._counts[:, rounds]
        members, places = np.full((2, *counts.shape, counts.max()), -1)
        for count in np.unique(counts).tolist():
            runs, at = np.nonzero(counts == count)
            taking = np.nonzero(self._taking[:, rounds][runs, at])[1].reshape(len(runs), count)
            delays = self._delays[:, rounds][runs[:, None], at[:, None], taking]
            members[runs, at, :count], places[runs, at, :count] = taking, self._places(self._own[runs], taking, delays)
        return members, places

    def _places(self, own: NDArray[np.intp], members: NDArray[np.intp], delays: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where what these clients add stands among all that was found, which is `found` where it is new."""
        count = members.shape[1]
        if count not in self._known:
            most = int(self._delays.max())
            self._known[count] = np.full((len(self._recursions), self._taking.shape[2], most + 1), -1)
        known = self._known[count]
        unknown = known[own[:, None], members, delays] < 0
        for k in np.unique(own[unknown.any(axis=1)] if self._added else own).tolist():
            wanted = unknown & (own == k)[:, None]
            new = np.unique(np.stack([members[wanted], delays[wanted]], axis=1), axis=0)
            to_server = self._aggregate(k, count)[1]
            found = self._recursions[k].moments.found([(int(i), float(delay)) for i, delay in new], to_server)
            known[k, new[:, 0], new[:, 1]] = self._filled + np.arange(len(new))
            self._add(found)
        return known[own[:, None], members, delays]

    def _add(self, found: Sequence[Array]) -> None:
        """Put what clients add after what is known; room is doubled, as little is added at a time."""
        first, self._filled = self._filled, self._filled + len(found[0])
        if not self._added or self._filled > len(self._added[0]):
            wider = (np.empty((2 * self._filled, *each.shape[1:])) for each in found)
            old, self._added = self._added, tuple(wider)
            for each, before in zip(self._added, old, strict=bool(old)):
                each[:first] = before[:first]
        for each, more in zip(self._added, found, strict=True):
            each[first : self._filled] = more


def _delays(taking: NDArray[np.bool_]) -> NDArray[np.intp]:
    """How many rounds ago those who take part in traces (runs, T, n) did so before, counted from -1; 1 of others."""
    last, found = np.full(taking.shape[::2], -1), np.ones(taking.shape, dtype=np.intp)
    for t in range(taking.shape[1]):
        now = taking[:, t]
        found[:, t][now] = t - last[now]
        last[now] = t
    return found


_MATRICES = ("covariance", "off", "rounding")
