"""A name that can be simulated: an algorithm with what the name fixes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bounds.sentences.words import spoken
from ratecheck.algorithms.model import asking
from ratecheck.algorithms.model.algorithm import Algorithm, U, V, check_answers
from ratecheck.aliases import Array
from ratecheck.errors import InputError, did_you_mean
from ratecheck.inputs import floats, nonnegative, positive
from ratecheck.problems import Problem

# Step sizes of absent blocks multiply nothing; 1 keeps them out of the caller's way.
NO_PERSONAL = {"gamma_v": 1.0, "eta_v": 1.0}
NO_SHARED = {"gamma_u": 1.0, "eta_u": 1.0}


@dataclass(frozen=True)
class Method:
    """A name that can be simulated: an algorithm, what the name fixes, and which blocks of variables it has.

    ``fixed`` holds parameters that the name sets, ``personal`` and ``shared`` say whether the problem may have such
    variables, ``full`` whether every client takes part in every round. ``exact`` names the method that this one
    becomes as its local steps solve the inner problem.
    """

    name: str
    title: str
    algorithm: Algorithm
    fixed: Mapping[str, float] = field(default_factory=dict)
    shared: bool = True
    personal: bool = True
    full: bool = False
    exact: str | None = None

    def __post_init__(self) -> None:
        """Raise `InputError` for an algorithm that is the class itself, which cannot be run."""
        if not isinstance(self.algorithm, Algorithm):
            is_class = isinstance(self.algorithm, type)
            what = f"the class {self.algorithm.__name__}: write {self.algorithm.__name__}()" if is_class else "none"
            raise InputError(f"{self.name}: its algorithm has to be an object of a class of Algorithm, and is {what}")
        asking.name(self.algorithm, self.name)
        check_answers(self.algorithm)

    @property
    def spoken(self) -> str:
        """The name as whoever writes about the method says it."""
        return spoken(self.name)

    @property
    def step_sizes(self) -> tuple[str, ...]:
        """The step sizes that the caller may give."""
        return tuple(name for name in self.algorithm.step_sizes if name not in self.fixed)

    def resolve(self, given: Mapping[str, ArrayLike], n: int) -> dict[str, float | Array]:
        """The given step sizes, those with a default and the fixed ones; an array (n,) where one differs by client.

        Raises `InputError` for missing, unknown, contradicting or nonpositive ones.
        """
        for name, value in given.items():
            if name not in self.algorithm.step_sizes:
                raise InputError(f"{self.spoken} has no step size {name!r}; {did_you_mean(name, self.step_sizes)}")
            if name in self.fixed and self.fixed[name] != value:
                raise InputError(
                    f"{name}={value!r} contradicts {self.spoken}, which sets {name} to {self.fixed[name]:g}"
                )
        values: dict[str, float | Array] = {**self.fixed}
        for name in self.step_sizes:
            if name in given:
                values[name] = self._checked(name, given[name], n)
            elif name in self.algorithm.optional:
                values[name] = self.algorithm.optional[name](n)
            else:
                raise InputError(f"{self.spoken} needs the step size {name}: give {name}=...")
        return values

    def _checked(self, name: str, value: ArrayLike, n: int) -> float | Array:
        default = self.algorithm.optional.get(name)
        if default is not None and np.isscalar(value) and value == default(n):
            return default(n)
        if name not in self.algorithm.per_client or np.isscalar(value):
            return (nonnegative if name in self.algorithm.constants else positive)(name, value)
        values = floats(name, value)
        if values.shape != (n,):
            raise InputError(f"{name} has the shape {values.shape}: give one number, or one per client, {n} in all")
        for i, number in enumerate(values):
            positive(f"{name}[{i}]", number)
        return values

    def check_problem(self, problem: Problem) -> None:
        """Raise `InputError` where the problem has another number of levels, or variables that the method lacks."""
        if problem.bilevel is not self.algorithm.bilevel:
            wanted = "bilevel" if self.algorithm.bilevel else "single-level"
            raise InputError(f"{self.spoken} is for {wanted} problems, not for a {problem.kind} one")
        if missing := [block for block in self.algorithm.blocks if block not in problem.layout]:
            raise InputError(
                f"{self.spoken} takes partial gradients in the variables {' and '.join(self.algorithm.blocks)}, and a "
                f"{problem.kind} problem has no {' and no '.join(missing)}: use a min-max problem"
            )
        d_u, d_v = problem.layout.get(U, 0), problem.layout.get(V, 0)
        if not self.personal and d_v:
            raise InputError(
                f"{self.spoken} has no personal variables, but the problem has {d_v}: use shared={d_u + d_v}"
            )
        if not self.shared and d_u:
            raise InputError(
                f"{self.spoken} has no shared variable, but the problem has one of size {d_u}: use shared=0"
            )

    def check_steps(self, K: int) -> None:
        """Raise `InputError` where the method fixes another number of local steps."""
        if self.fixed.get("K", K) != K:
            steps = self.fixed["K"]
            noun = "local step" if steps == 1 else "local steps"
            raise InputError(f"K={K} contradicts {self.spoken}, which takes K={steps:g} {noun} per round")
