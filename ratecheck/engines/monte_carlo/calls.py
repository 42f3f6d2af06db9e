"""Calls of a method's functions for many rows, a row being a client in a replicate: one call for all of them.

Where parameters differ by row, as the step sizes or delays of clients do, a function gets them as arrays (rows, 1) if
it gives with these, to the last bit, what it gives with the numbers: that is tried on some of the clients. Else it is
called once for each of the different parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.engines.setup import Setup

Arrays = dict[str, Array]
Integers = NDArray[np.int64]

# Clients with different parameters, and values of what differs by row for other reasons, on which functions are tried.
_CLIENTS = 12
_DELAYS = (1.0, 2.0, 3.0, 5.0, 7.0, 20.0, 100.0)
# Rows for each of them, and their sizes.
_SIZES = (1.0, 1e-3)


class Calls:
    """The functions of a run's method, on rows of clients or of the server.

    ``setup`` is that of any round; parameters of a round are those of the round that is named.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup, self._functions = setup, setup.functions
        self._firsts, self._groups = setup.kinds
        known = [setup.numbers(int(i)) for i in self._firsts]
        self._columns = {
            name: np.array([each[name] for each in known])
            for name in known[0]
            if any(each[name] != known[0][name] for each in known)
        }
        self._known, self._of_server = known, setup.numbers()
        self._verdicts: dict[tuple[str, bool, tuple[str, ...]], bool] = {}

    def by_clients(
        self,
        name: str,
        t: int,
        arguments: tuple[Arrays, ...],
        clients: Integers,
        values: Mapping[str, Any] | None = None,
        *,
        made_up: bool = False,
    ) -> tuple[Arrays, ...]:
        """The value of a client's function for rows of ``clients`` (rows,) in round t.

        ``values`` are parameters beside those of the clients, numbers or arrays (rows,). For ``made_up`` see
        `Functions`.
        """
        groups = self._groups[clients] if self._columns else None
        return self._call(name, t, arguments, groups, values or {}, server=False, made_up=made_up)

    def by_server(
        self,
        name: str,
        t: int,
        arguments: tuple[Arrays, ...],
        values: Mapping[str, Any] | None = None,
        *,
        made_up: bool = False,
    ) -> tuple[Arrays, ...]:
        """The value of a server's function in round t, for rows that are replicates."""
        return self._call(name, t, arguments, None, values or {}, server=True, made_up=made_up)

    @property
    def columns(self) -> Mapping[str, Array]:
        """Parameters that differ between clients, (n,) each."""
        return {name: column[self._groups] for name, column in self._columns.items()}

    def parameters(self, values: Mapping[str, Any], *, server: bool) -> dict[str, Any]:
        """The parameters of the first client, or of the server, with ``values`` in their place."""
        p: dict[str, Any] = copy(self._of_server if server else self._known[0])
        p.update(values)
        return p

    def _call(
        self,
        name: str,
        t: int,
        arguments: tuple[Arrays, ...],
        groups: Integers | None,
        values: Mapping[str, Any],
        *,
        server: bool,
        made_up: bool,
    ) -> tuple[Arrays, ...]:
        # A step size of that name is what a function gets.
        values = {each: _number(value) for each, value in values.items() if each not in self._setup.step_sizes}
        by_row = tuple(each for each, value in values.items() if isinstance(value, np.ndarray))
        if groups is not None and (groups == groups[0]).all():
            groups = groups[:1]
        several = groups is not None and len(groups) > 1
        if not (several or by_row):
            group = None if groups is None else int(groups[0])
            return self._functions(name, arguments, self._numbers(t, group, values, server=server), made_up=made_up)
        if self._together(name, by_row, several=several, server=server):
            p = self._arrays(t, groups, values, server=server)
            return self._functions(name, arguments, p, made_up=made_up)
        return self._apart(name, t, arguments, groups, values, server=server, made_up=made_up)

    def _apart(
        self,
        name: str,
        t: int,
        arguments: tuple[Arrays, ...],
        groups: Integers | None,
        values: Mapping[str, Any],
        *,
        server: bool,
        made_up: bool,
    ) -> tuple[Arrays, ...]:
        """A call for each of the different parameters."""
        by_row = {each: value for each, value in values.items() if isinstance(value, np.ndarray)}
        several = groups is not None and len(groups) > 1
        columns = [*by_row.values()]
        if groups is not None and several:
            columns.append(groups)
        code = np.zeros(len(columns[0]), dtype=np.int64)
        for column in columns:
            levels, place = _levels(column)
            # Kept small, so that numbers of combinations stay whole ones of 64 bits.
            code = _levels(code * levels + place)[1]
        found: tuple[Arrays, ...] | None = None
        for each in range(int(code.max()) + 1):
            rows = np.flatnonzero(code == each)
            one = int(rows[0])
            group = None if groups is None else int(groups[one if several else 0])
            own = {**values, **{key: value[one].item() for key, value in by_row.items()}}
            here = tuple({key: array[rows] for key, array in part.items()} for part in arguments)
            p = self._numbers(t, group, own, server=server)
            answer = self._functions(name, here, p, made_up=made_up)
            if found is None:
                found = tuple(
                    {key: np.empty((len(code), array.shape[1])) for key, array in part.items()} for part in answer
                )
            for ours, part in zip(found, answer, strict=True):
                for key, array in part.items():
                    ours[key][rows] = array
        assert found is not None
        return found

    def _numbers(self, t: int, group: int | None, values: Mapping[str, Any], *, server: bool) -> dict[str, float]:
        """Parameters of a group of clients, or of the server, in round t."""
        p = copy(self._of_server if server else self._known[group or 0])
        p.update(values)
        return self._in_round(t, p)

    def _arrays(self, t: int, groups: Integers | None, values: Mapping[str, Any], *, server: bool) -> dict[str, float]:
        """Parameters of rows, as arrays (rows, 1) where they differ."""
        group = None if groups is None else int(groups[0])
        p: dict[str, Any] = copy(self._of_server if server else self._known[group or 0])
        if groups is not None and len(groups) > 1:
            p.update({name: column[groups][:, None] for name, column in self._columns.items()})
        p.update({each: value[:, None] if isinstance(value, np.ndarray) else value for each, value in values.items()})
        return self._in_round(t, p)

    def _in_round(self, t: int, p: dict[str, float]) -> dict[str, float]:
        """Parameters of round t: ``p``, with the coefficients of the round where they vary."""
        algorithm = self._setup.algorithm
        if algorithm.varying:
            p.update(algorithm.coefficients(t, self._setup.T, p))
        return p

    def _together(self, name: str, by_row: tuple[str, ...], *, several: bool, server: bool) -> bool:
        """Whether a function does the same with arrays of these parameters as with the numbers."""
        key = (name, several, by_row)
        if key not in self._verdicts:
            # What a function raises with made up variables says nothing of those of a run.
            try:
                self._verdicts[key] = self._agree(name, by_row, several=several, server=server)
            except Exception:  # noqa: BLE001
                self._verdicts[key] = False
        return self._verdicts[key]

    def _agree(self, name: str, by_row: tuple[str, ...], *, several: bool, server: bool) -> bool:
        """Whether all rows are the same to the last bit in both ways, in the first, a middle and the last round."""
        setup = self._setup
        tried = {
            "coin": np.array([0.0, 1.0]),
            "delay": np.array(_DELAYS),
            "weight": _spread(np.unique(setup.weights)),
            "m": _participants(setup),
        }
        chosen = _spread(np.arange(len(self._firsts))) if several else np.zeros(1, dtype=np.int64)
        most = max(len(chosen), *(len(tried[each]) for each in by_row), 2)
        rows = np.repeat(np.arange(most), len(_SIZES))
        values: dict[str, Array] = {each: np.resize(tried[each], most)[rows] for each in by_row}
        groups = np.resize(chosen, most)[rows]
        sizes = np.tile(_SIZES, most)[:, None]
        arguments = self._functions.made_up(name, sizes)
        for t in sorted({0, setup.T // 2, setup.T - 1}) if setup.algorithm.varying else (0,):
            p = self._arrays(t, groups if several else groups[:1], values, server=server)
            together = self._functions(name, arguments, p, made_up=True)
            for row in range(len(rows)):
                own = {each: value[row].item() for each, value in values.items()}
                p = self._numbers(t, int(groups[row]), own, server=server)
                alone = self._functions(name, arguments, p, made_up=True)
                for ours, other in zip(together, alone, strict=True):
                    if not all(np.array_equal(ours[key][row], other[key][row], equal_nan=True) for key in ours):
                        return False
        return True


def _levels(values: NDArray[Any]) -> tuple[int, Integers]:
    """How many different values there are, and which of them each is."""
    found, place = np.unique(values, return_inverse=True)
    return len(found), np.asarray(place, dtype=np.int64)


def _number(value: Any) -> Any:
    """The value itself, or the number that an array has in all of its rows."""
    if isinstance(value, np.ndarray) and (len(value) == 1 or (value == value[0]).all()):
        return value[0].item()
    return value


def _spread(values: NDArray[Any]) -> NDArray[Any]:
    """Some of the values, from the first to the last."""
    return values[np.unique(np.linspace(0, len(values) - 1, _CLIENTS).astype(int))]


def _participants(setup: Setup) -> Integers:
    """Numbers of clients that may take part."""
    return _spread(np.arange(1, setup.problem.n + 1))
