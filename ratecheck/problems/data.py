"""A problem as data, and the simpler problems that are made of it by changing them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from ratecheck.aliases import Array
from ratecheck.errors import InputError


class ProblemData(ABC):
    """The form of a problem in a file, `fields` and `read`, and its simpler neighbours, by which a find is shrunk.

    Lists in ``fields`` are arrays of numbers whose first axis is clients; of each a simpler number is tried.
    """

    n: int
    # The problem's name in messages and files.
    kind: ClassVar[str]
    # The arguments of the class that are its data, attributes of the same names; none where `fields` says otherwise.
    stored: ClassVar[tuple[str, ...]] = ()
    # Arrays that are symmetric matrices, one per client.
    symmetric: ClassVar[frozenset[str]] = frozenset()
    # Powers of x that entries of an array multiply in f, where the problem may be put in other units: 2 of a Hessian.
    degrees: ClassVar[Mapping[str, int]] = {}
    # Arrays of points, which are measured in units of x, beside those that have degrees.
    points: ClassVar[frozenset[str]] = frozenset()
    # The array of clients' weights, which add up to 1: those of the others stay in proportion where one is left out.
    proportions: ClassVar[str] = ""
    # Breakpoints across which a curvature changes, of all clients and variables.
    bends: int = 0

    def fields(self) -> dict[str, Any]:
        """The problem as JSON data, which `read` reads; raises `InputError` where it has no such form."""
        if not self.stored:
            raise InputError(f"an instance on a {self.kind} problem has no file: its data are not part of it")
        return {name: getattr(self, name).tolist() for name in self.stored}

    def divided(self, n: int, names: Sequence[str]) -> Iterator[Self]:
        """The problems of n clients each, one after the other, that have their parts of these arrays and all else."""
        for first in range(0, self.n, n):
            one = object.__new__(type(self))
            vars(one).update(vars(self), n=n, **{name: getattr(self, name)[first : first + n] for name in names})
            yield one

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `fields`; raises `InputError` for what is no such problem."""
        if not cls.stored:
            raise InputError(f"an instance on a {cls.kind!r} problem has no file")
        return cls(**{name: data[name] for name in cls.stored})

    def arrays(self) -> dict[str, Array]:
        """The numbers of `fields` that may be simpler, by name; none where the problem has no such form."""
        try:
            found = self.fields()
        except InputError:
            return {}
        lists = {name: value for name, value in found.items() if isinstance(value, list) and name != self.proportions}
        return {name: np.asarray(value, dtype=float) for name, value in lists.items()}

    def with_arrays(self, changed: Mapping[str, Array], **others: Any) -> Self:
        """The problem with other arrays and other `fields`; raises `InputError` where these are no such problem's."""
        return self.read({**self.fields(), **{name: array.tolist() for name, array in changed.items()}, **others})

    def without_client(self, i: int) -> Self:
        """The problem without client i; raises `InputError` where none may be left out."""
        changed = {name: np.delete(array, i, axis=0) for name, array in self.arrays().items()}
        if self.n == 1 or not changed:
            raise InputError("no client to leave out")
        if self.proportions:
            left = np.delete(getattr(self, self.proportions), i)
            changed[self.proportions] = left / left.sum()
        return self.with_arrays(changed)

    def with_clients(self, n: int) -> Self:
        """The problem with about n clients of the types it has, where it counts them by type; else `InputError`."""
        raise InputError("clients are not counted by type")

    def without_variable(self, c: int) -> Self:
        """The problem without coordinate c of the joint variable; raises `InputError` where none may be left out."""
        raise InputError("no variable to leave out")

    def straighter(self) -> Iterable[Callable[[Any], ProblemData]]:
        """Changes by which a problem of this form has fewer breakpoints; none where it has none."""
        return ()
