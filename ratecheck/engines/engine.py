"""An engine follows a run: what it refuses, what it costs, and the expectation that it finds are its own.

An engine is one file: a subclass of `Engine` in `ratecheck.engines.kinds`, or one that another distribution names by an
entry point of the group ``ratecheck.engines``, as in ``mine = "my_package:Mine"``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from ratecheck.aliases import Progress
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.monte_carlo.stepwise import Run
from ratecheck.engines.setup import Setup, check_law
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import InputError
from ratecheck.extensions import Registry, classes
from ratecheck.problems.problem import Known

GROUP = "ratecheck.engines"


class Engine(ABC):
    """A way to follow runs. An engine has no state: there is one object of each.

    ``option`` is the value of ``engine=`` that requests it: "exact" for expectations up to rounding, "step" for what is
    simulated. ``needs`` is what has to be known of the problem. ``growing`` exact engines follow noise that depends on
    the point, the others noise that does not.
    """

    name: ClassVar[str]
    option: ClassVar[str] = "exact"
    needs: ClassVar[frozenset[Known]] = frozenset()
    growing: ClassVar[bool] = False

    @abstractmethod
    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        """Why it does not follow the run to what is wanted, in a line for the user; empty where it does."""

    def cost(self, setup: Setup, wanted: Wanted) -> float:
        """The cost of the run as a share of what is spent unless the engine is requested by its option; 1 here."""
        return 1.0

    @abstractmethod
    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        """The expectation of what is wanted, with its error; raises `InputError` as `refuses` says."""

    def follow_each(
        self, setups: Sequence[Setup], wanted: Wanted, progress: Progress | None = None
    ) -> list[Expectation]:
        """`follow` of several runs, on their own or together; what is found of one does not depend on the others."""

        def told(k: int, share: float) -> None:
            if progress is not None:
                progress((k + share) / len(setups))

        return [self.follow(each, wanted, partial(told, k)) for k, each in enumerate(setups)]

    def sample(self, setup: Setup, wanted: Wanted, replicates: range, progress: Progress | None = None) -> Run:
        """Replicates of a random run, where it is simulated."""
        raise InputError(f"the engine {self.name} draws no replicates")


def _engines() -> dict[str, Engine]:
    found = classes("ratecheck.engines.kinds", GROUP, Engine)  # type: ignore[type-abstract]  # to compare
    return {each.name: each() for each in found}


ENGINES: Registry[Engine] = Registry(_engines)


def choose(setup: Setup, wanted: Wanted, option: str) -> tuple[Engine, str]:
    """The engine that follows the run, and why its records do not suffice for what is wanted; empty where they do.

    It is the first that does not refuse: exact ones before those that simulate, then the cheaper one. Raises
    `InputError`, with the reason of the engine that needs most of what the problem knows, where all refuse the run.
    """
    growing = not setup.law.additive
    if option != "step" and not growing and (unknown := objection(check_law, setup, "the exact engine")):
        if option == "exact":
            raise InputError(unknown)
        option = "step"
    able = [each for each in ENGINES.values() if option in ("auto", each.option) and each.needs <= setup.problem.knows]
    able = [each for each in able if each.option == "step" or each.growing == growing]
    refused: dict[Engine, str] = {}
    costs = {each: each.cost(setup, wanted) for each in able}
    for each in sorted(able, key=lambda engine: (engine.option != "exact", costs[engine])):
        if option == "auto" and costs[each] > 1:
            continue
        if not (reason := each.refuses(setup, wanted)):
            return each, ""
        refused[each] = reason
    return _unrecorded(setup, wanted, refused)


def _unrecorded(setup: Setup, wanted: Wanted, refused: dict[Engine, str]) -> tuple[Engine, str]:
    """The engine that simulates the run, if one does, and why it does not record what is wanted."""
    nothing = Wanted(frozenset(), wanted.vocabulary)
    for each, reason in refused.items():
        if each.option == "step" and not each.refuses(setup, nothing):
            return each, reason
    raise InputError(refused[max(refused, key=lambda engine: len(engine.needs))])


def objection(check: Callable[..., Any], *arguments: Any) -> str:
    """The message of the `InputError` that a check raises; empty where it raises none."""
    try:
        check(*arguments)
    except InputError as error:
        return str(error)
    return ""
