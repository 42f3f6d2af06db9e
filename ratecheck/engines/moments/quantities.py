"""Expectations of quantities that are no records of a method, by name.

A name is ``form:what`` or one of `remembered.NAMES`. The forms of `changes` are about a round. ``participant:R`` and
``participant:step:V`` are about every client that takes part in a round by itself: one entry for each. ``largest:R`` is
the root of the largest client's part of R, where nothing is random.

Others add up a quantity q_t over the run, in one entry: with tau_t as in `participation.delays.per_round`, q_-1 = 0,
and round T requested although T rounds, 0 ... T-1, are the run,

* ``total``: sum_{t<T} q_t, and ``total_T``: sum_{t<=T} q_t;
* ``windows``: sum_{t<T} sum_{t-tau_t <= p < t} q_p;
* ``delayed_windows``: sum_{t<T} tau_t sum_{t-tau_t <= p < t} q_p.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ratecheck.algorithms.model.remembering import remembering
from ratecheck.aliases import Array, Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import coordinates, remembered
from ratecheck.engines.moments.changes import Changes
from ratecheck.engines.moments.expectation import Recorder, check_exact
from ratecheck.engines.moments.moment import EPS, Number
from ratecheck.engines.moments.remembered import Remembered
from ratecheck.engines.moments.transition import Transition
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.execution.one_thread import single_threaded
from ratecheck.participation import Trace, delays

Matrix = NDArray[np.bool_]


# Sums over the run.
_TOTALS = ("total", "total_T", "windows", "delayed_windows")


def known(name: str) -> bool:
    """Whether a name is one of these quantities, rather than a record."""
    return ":" in name or name in remembered.NAMES


def expect(setup: Setup, names: Iterable[str], *, progress: Progress | None = None) -> Expectation:
    """Expectations of the named quantities; entries are rounds, participants of rounds, or the run as a whole.

    Raises `InputError` for a run that is not affine, for a quantity that its method or problem does not have, and for
    names whose entries are not the same.
    """
    check_exact(setup)
    names = tuple(names)
    forms = {name: _head(name, _TOTALS) for name in names}
    singles = {name: name.startswith("participant:") for name in names}
    if len(set(singles.values())) > 1 or len({form is None for form in forms.values()}) > 1:
        raise InputError(f"{', '.join(names)} are about different things: rounds, participants or the run")
    inner = {name: name.split(":", 1)[1] if forms[name] or singles[name] else name for name in names}
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        followed = _Followed(setup, {*inner.values()}, single=any(singles.values()), last="total_T" in forms.values())
        result = followed.run(progress)
    if any(singles.values()):
        return _of_participants(result, followed.matrix, setup.T, inner)
    if any(forms.values()):
        return _of_the_run(result, followed.matrix, setup.T, {k: (forms[k] or "", inner[k]) for k in names})
    return result


def _head(name: str, forms: Iterable[str]) -> str | None:
    """The form with which a name begins."""
    head = name.split(":", 1)[0]
    return head if ":" in name and head in forms else None


def _record(name: str) -> str | None:
    """The record that a quantity of a round is made of."""
    if name in remembered.NAMES or name.startswith("step:"):
        return None
    return name.split(":", 1)[-1]


class _Followed:
    """A run that is followed round by round; ``last`` includes the round after the last one, too."""

    def __init__(self, setup: Setup, names: set[str], *, single: bool, last: bool) -> None:
        self._names, self._single, self._random = sorted(names), single, bool(setup.noise.any())
        self.matrix = delays.rows_until(setup.trace, setup.T) if setup.trace.deterministic else None
        self._random |= self.matrix is None
        self._rate = setup.trace.rate
        if last and self.matrix is not None:
            setup = replace(setup, T=setup.T + 1, trace=Trace(self.matrix))
        records = {record for name in names if (record := _record(name))}
        method = setup.method
        if names & remembered.NAMES:
            # The fewer variables there are, the less there is to follow.
            of_noise = bool(names & remembered.OF_NOISE)
            method = replace(method, algorithm=remembering(method.algorithm, gradients=of_noise))
        self._setup = replace(setup, method=method, records=tuple(sorted({*records, *setup.records})))
        self._moments = coordinates.moments(self._setup)
        # What is asked for otherwise is known without its value.
        self._recorder = Recorder(self._moments, {*setup.records, *names})
        changing = [name.removeprefix("change:") for name in names if name.startswith("change:")]
        self._changes = Changes(self._moments, changing)
        self._remembered = Remembered(self._moments) if names & remembered.NAMES else None

    def run(self, progress: Progress | None) -> Expectation:
        """All quantities per round (T,), or per round and client (T, n); those of the setup's records as well."""
        rows: dict[str, list[Array]] = {name: [] for name in self._names}
        metric: list[tuple[Array, Array]] = []
        for t, (moment, round_map) in enumerate(self._moments.rounds()):
            round_ = Transition(moment, round_map)
            metric.append(self._recorder.record(moment))
            known = dict(zip(self._recorder.names, zip(*metric[-1], strict=True), strict=True))
            for name in self._names:
                rows[name].append(np.array(self._number(name, t, round_, known), dtype=float))
            if progress is not None:
                progress(t / self._setup.T)
        if self._setup.algorithm.projects:
            # What the last round changes depends on where it ends.
            self._moments.check_projection(round_map.carry(moment), self._setup.T)
        values, errors = (np.array(part).T for part in zip(*metric, strict=True))
        records, rounding = (dict(zip(self._recorder.names, part, strict=True)) for part in (values, errors))
        weights = self._setup.algorithm.metric(self._rate, self._setup.problem.n)
        course = sum(weight * records[name] for name, weight in weights.items())
        found = {name: np.array(numbers) for name, numbers in rows.items()}
        records |= {name: numbers[..., 0] for name, numbers in found.items()}
        rounding |= {name: numbers[..., 1] for name, numbers in found.items()}
        sizes = {name: numbers[..., 2] for name, numbers in found.items() if numbers.shape[-1] > 2}
        return Expectation(records, rounding, weights, self._rate, course=np.asarray(course), sizes=sizes)

    def _number(self, name: str, t: int, round_: Transition, known: Mapping[str, Number]) -> object:
        """Value, error and, of differences, size; or these for every client. Of records they are ``known``."""
        form, _, what = name.rpartition(":")
        if form == "change":
            return self._changes.change(what, round_)
        if form == "step":
            return self._changes.steps(what, round_) if self._single else self._changes.step(what, round_)
        if form == "largest":
            return self._largest(what, round_)
        if form:
            raise InputError(f"no quantity {name!r}: {form!r} is no form of one")
        if self._single:
            return self._changes.parts(what, round_)
        if self._remembered is not None and name in remembered.NAMES:
            return self._remembered.quantity(name, t, round_)
        return known[name]

    def _largest(self, record: str, round_: Transition) -> tuple[float, float, float]:
        if self._random:
            raise InputError(f"the largest {record} of a client is no moment where the run is random: draw a trace")
        value, error, size = (max(column) for column in zip(*self._changes.parts(record, round_), strict=True))
        root = math.sqrt(max(value, 0.0))
        # An error of the square is one of the root: sqrt(a + e) - sqrt(a) <= min(sqrt(e), e/(2 sqrt(a))).
        return root, min(math.sqrt(error), error / (2 * root) if root else math.inf), math.sqrt(size)


def _of_participants(result: Expectation, matrix: Matrix | None, T: int, inner: dict[str, str]) -> Expectation:
    """An entry for every client of every round that takes part."""
    if matrix is None:
        raise InputError("who takes part is random: draw a trace")
    rounds, clients = np.nonzero(matrix[:T])
    if not len(rounds):
        raise InputError("nobody takes part in any round, so there is nothing to say about participants")
    records, errors, sizes = (
        {name: part[what][rounds, clients] for name, what in inner.items()}
        for part in (result.records, result.errors, result.sizes)
    )
    places = [(int(t), int(i)) for t, i in zip(rounds, clients, strict=True)]
    return replace(result, records=records, errors=errors, sizes=sizes, places=places)


def _weights(form: str, matrix: Matrix, T: int) -> Array:
    """The weight of every round of ``matrix`` (T or more rows) in a sum over the run."""
    tau = delays.per_round(matrix)
    counts = np.zeros(len(tau))
    if form in ("total", "total_T"):
        counts[: T + (form == "total_T")] = 1.0
        return counts
    for t in range(T):
        counts[max(t - tau[t], 0) : t] += tau[t] if form == "delayed_windows" else 1.0
    return counts


def _of_the_run(result: Expectation, matrix: Matrix | None, T: int, names: dict[str, tuple[str, str]]) -> Expectation:
    """One entry: the sums."""
    if matrix is None:
        raise InputError("who takes part is random: draw a trace")
    counts = {form: _weights(form, matrix, T) for form, _ in names.values()}

    records, errors = {}, {}
    for name, (form, what) in names.items():
        values, count = result.records[what], counts[form][: len(result.records[what])]
        records[name] = np.array([count @ values])
        rounding = (len(values) + 4) * EPS * (count @ np.abs(values))
        errors[name] = np.array([count @ result.errors[what] + rounding])
    return replace(result, records=records, errors=errors, sizes={}, places=[(None, None)])
