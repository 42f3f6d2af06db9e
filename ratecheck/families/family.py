"""A family of instances: what it needs of a statement, what it is hard for, and how a point becomes an instance.

A shape is what is discrete about an instance: its family, its sizes, and its participation. A cube has all instances of
a shape, see `ratecheck.families.cube`; families know of it what `InstanceCube` says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.problems import Problem
from ratecheck.verification.instance import Instance

Coordinates = Mapping[str, float]

# What is measured in runs without randomness, every point of which is visited; local steps and rounds of these.
OF_QUIET_RUNS = frozenset({Assumption.VISITED_GRADIENTS, Assumption.BOUNDED_ITERATES})
VISITED = (32.0, 64.0)


@dataclass(frozen=True)
class Family(ABC):
    """Problems of one kind, each with the run that goes with it: points of a unit cube, decoded.

    ``name`` says what its problems are, ``hard_for`` what its points in `hard` are hard for, and ``label`` what a shape
    is called beside its sizes.
    """

    name: str
    hard_for: str
    # Families with lower numbers are searched first; those that come later only where no other violates the statement.
    place: int = 100
    later: bool = False
    label: str = ""
    # Nothing is random: everybody takes part, and there is no noise.
    quiet: bool = False
    # Levels of noise that a statement leaves open are coordinates; or they are the problem's own, and no run has any.
    noise: bool = True
    own_noise: bool = False
    # Runs are drawn, and means over them are all that is known of an instance.
    drawn: bool = False
    # Noise is drawn in runs, and not enumerated.
    simulated: bool = True
    # All problems are quadratics; their gradients are bounded where the statement says so.
    quadratic: bool = True
    linear_far_away: bool = False
    # Clients have weights of their own in the objective.
    weighted: bool = False
    # Constants may be those of functions that continue otherwise beyond a run, which verdicts know and no scout.
    continued: bool = False
    # The noise of gradients grows with them.
    growing: bool = False
    # Clients of a group have one function.
    grouped: bool = False
    # There are instances of any number of clients.
    any_number: bool = True
    # Instances have any number of variables.
    any_dimension: bool = False
    # Coordinates, by the beginnings of their names, that are often in their middle.
    centred: tuple[str, ...] = ()

    @abstractmethod
    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """The sizes in which a statement is tried on it, small ones first; none where it lacks what the family needs.

        What is needed are assumptions, measured quantities, and the kind of method.
        """

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        """Shapes of n clients, where none of `shapes` has so many."""
        return ()

    @abstractmethod
    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Names of the coordinates that `problem` reads, beside ``spread``."""

    @abstractmethod
    def problem(self, cube: InstanceCube, at: Coordinates) -> Problem:
        """The problem at a point; it meets what the statement assumes of problems."""

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[Problem | None]:
        """The problems at points, None for one that there is not."""
        found: list[Problem | None] = []
        for at in points:
            try:
                found.append(self.problem(cube, at))
            except InputError:
                found.append(None)
        return found

    def start(self, cube: InstanceCube, at: Coordinates, problem: Problem) -> dict[str, list[float]]:
        """Where variables start, if not at zero."""
        return {}

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Points that are known to be hard; see ``hard_for``."""
        yield from ()

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float] | None:
        """The largest numbers of local steps and rounds; None where the method and the statement decide."""
        return VISITED if OF_QUIET_RUNS & {*statement.assumptions} else None

    def shortened(self, cube: InstanceCube, given: dict[str, float], problem: Problem, fewest: int) -> dict[str, float]:
        """A setting with fewer rounds and local steps, where it has more than are followed on such a problem."""
        return given

    def text(self, statement: Statement) -> str:
        """The family's problems for a statement, in words."""
        return self.name

    def missed(self, others: Collection[Family]) -> tuple[str, ...]:
        """The problems that a search in these families has not tried."""
        return ("functions that are not quadratic",) if all(each.quadratic for each in others) else ()


@dataclass(frozen=True)
class InstanceShape:
    """A family with n clients, ``d_u`` shared and ``d_v`` personal variables, and ``size`` participants of a round.

    ``trace`` is the participation, by the name of one of `who.TRACES`; "" for the pattern of the statement. ``groups``
    kinds of clients have even shares of them; 0 where every client is of its own kind. ``graph`` is the one on which
    clients mix, by name: with which share of a step is a coordinate.
    """

    family: Family
    n: int
    d_u: int
    d_v: int
    size: int
    trace: str = ""
    groups: int = 0
    graph: str = ""

    def __str__(self) -> str:
        equal = f"{self.groups} groups" if self.groups > 1 else ""
        kinds = (self.trace, equal, self.family.label, f"{self.graph} graph" if self.graph else "")
        return ", ".join((f"n={self.n}, d={self.d_u}+{self.d_v}, {self.size} per round", *filter(None, kinds)))

    @property
    def group_of(self) -> list[int]:
        """The group of every client: even shares, in order."""
        groups = self.groups or self.n
        return [i * groups // self.n for i in range(self.n)]


class InstanceCube(ABC):
    """All instances of a statement with one shape, as points of a unit cube; numbers that are ``fixed`` are in each."""

    statement: Statement
    shape: InstanceShape
    fixed: Mapping[str, float]
    # The names of the axes, in order.
    coordinates: tuple[str, ...]

    @property
    def family(self) -> Family:
        """The shape's."""
        return self.shape.family

    @property
    @abstractmethod
    def any_sign(self) -> bool:
        """Whether functions need not be convex."""

    @property
    @abstractmethod
    def noises(self) -> tuple[str, ...]:
        """Symbols of the levels of noise that are coordinates."""

    @property
    @abstractmethod
    def reach(self) -> tuple[float, float]:
        """The largest numbers of local steps and rounds."""

    @property
    @abstractmethod
    def fewest_rounds(self) -> int:
        """The least number of rounds of which the statement says something."""

    @abstractmethod
    def at(self, own: Coordinates) -> Array:
        """The point with these coordinates, step sizes at their edge, and 0 for all others."""

    @abstractmethod
    def decode(self, point: Array, fewest: int = 1) -> Instance:
        """The instance at a point, of that many rounds at least, unless their number is fixed."""
