"""The result of a search for a violating instance, with the simplified counterexample."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bounds.statement import Statement
from ratecheck import ending
from ratecheck.falsification.edges import edges
from ratecheck.falsification.searched import Searched
from ratecheck.falsification.terms import ByTerm
from ratecheck.falsification.unconfirmed import Unconfirmed
from ratecheck.families.family import InstanceShape
from ratecheck.outcome import Outcome
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Verdict

if TYPE_CHECKING:
    from ratecheck.falsification.performance_estimation.worst_functions import WorstFunctions

Report = Callable[[float, str], None]

# The options of `verify` on an instance of a search.
SEARCHED = Options(engine="auto", traces=1, replicates=16, level=1e-6, vacuity=False, rigorous=False)

# The share of instances that meet every condition below which little was searched.
_ENOUGH = 0.25


@dataclass(frozen=True)
class Shrunk:
    """The simplest violating instance that was reached, its verdict, and what was spent on it.

    ``before`` and ``after`` are the `simplicity` of the two instances: clients, variables, rounds, local steps and
    binary digits of all numbers. ``stopped`` says why it ended early.
    """

    instance: Instance
    verdict: Verdict
    evaluations: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    stopped: str = ""


@dataclass(frozen=True)
class Falsified:
    """The end of a search: the instance with the least slack, its verdict, and what was spent.

    ``outcome`` is VIOLATED where an instance fails, else INCONCLUSIVE: a search proves nothing. ``unconfirmed`` is what
    exceeds the bound by one evaluation and is confirmed by none. ``tightness`` is left
    side / right side of the instance found, None where no instance was applicable. ``stopped`` says why the search
    ended early; `clocked` whether that was a clock. ``applicable`` instances met every condition; on ``zero`` of them
    both sides were 0, which is no violation and shows little. ``scouted`` instances were seen by scouts, several for
    an evaluation. ``terms`` is what was found term by term, where that was
    requested; an instance found there has no ``shape``. ``shrunk`` is the counterexample made simple, if it was.
    ``functions`` are the worst convex functions of small runs, where those were requested. ``independent`` are left /
    right of the best instances of searches that did not share one, each on a shape of its own; ``searched`` says in
    which families. ``not_convex`` violates a statement on a function that is not convex, where it speaks of a minimum
    and does not say whether it means such functions; that is no violation.
    """

    statement: Statement
    instance: Instance | None
    verdict: Verdict | None
    shape: InstanceShape | None
    evaluations: int
    applicable: int
    seconds: float
    stopped: str = ""
    reasons: tuple[str, ...] = ()
    terms: ByTerm | None = None
    shrunk: Shrunk | None = None
    functions: WorstFunctions | None = None
    independent: tuple[float, ...] = ()
    searched: Searched | None = None
    zero: int = 0
    scouted: int = 0
    not_convex: Shrunk | None = None
    unconfirmed: Unconfirmed | None = None

    @property
    def only_zero(self) -> bool:
        """Whether instances met every condition, and both sides were 0 on all of them."""
        return 0 < self.applicable == self.zero

    @property
    def few(self) -> bool:
        """Whether no violation was found, and less than a quarter of the instances met every condition."""
        return self.outcome is not Outcome.VIOLATED and 0 < self.applicable < _ENOUGH * self.evaluations

    @property
    def by_instance(self) -> bool:
        """Whether ``instance`` violates the statement."""
        return self.verdict is not None and self.verdict.outcome is Outcome.VIOLATED

    @property
    def by_function(self) -> bool:
        """Whether a function that is given by its values and gradients does."""
        return self.functions is not None and self.functions.violated

    @property
    def outcome(self) -> Outcome:
        """VIOLATED, INCONCLUSIVE or, where nothing could be evaluated, NOT_APPLICABLE."""
        if self.by_instance or self.by_function:
            return Outcome.VIOLATED
        evaluated = (
            self.zero
            or self.verdict is not None
            or self.unconfirmed
            or (self.functions is not None and self.functions.cases)
        )
        evaluated = evaluated or (self.terms is not None and self.terms.hardest is not None)
        return Outcome.INCONCLUSIVE if evaluated else Outcome.NOT_APPLICABLE

    @property
    def stop(self) -> KeyboardInterrupt | None:
        """The interrupt or the termination that ended the search or the shrinking; None where none did."""
        return ending.named(self.stopped) or ending.named("" if self.shrunk is None else self.shrunk.stopped)

    @property
    def clocked(self) -> bool:
        """Whether a clock ended it, so that another machine would give another answer."""
        return bool(self.stopped) and ending.named(self.stopped) is None

    @property
    def tightness(self) -> float | None:
        """Left side / right side; infinite where the right side is not positive and the statement fails."""
        found = [self.of_instance, None if self.functions is None else self.functions.tightness]
        if self.by_function and found[1] is None:
            return math.inf
        return max((each for each in found if each is not None), default=None)

    @property
    def edges(self) -> tuple[str, ...]:
        """What is at its edge where left and right agree best: see `ratecheck.falsification.edges`."""
        functions = None if self.functions is None else self.functions.tightness
        if functions is not None and functions > (self.of_instance or 0.0) and self.functions is not None:
            worst = self.functions.worst
            return () if worst is None else edges(self.statement, worst.case.values)
        return () if self.verdict is None else edges(self.verdict.statement, self.verdict.values)

    @property
    def of_instance(self) -> float | None:
        """Left side / right side of the worst instance, without what is known of worst functions."""
        worst = None if self.verdict is None else self.verdict.worst
        if worst is None:
            return None
        if worst.right <= 0 or not worst.significant:
            return math.inf if self.by_instance else None
        return worst.tightness
