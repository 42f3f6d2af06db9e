"""Stand-ins for delays that are drawn, where the step sizes are those of the participation that is.

The left side is then a mean over participations, each with step sizes of its own. Hard instances take

- a schedule where the statement assumes no law: what is fixed is random too, with one outcome;
- blocks of S clients in a fixed order, and the delays that these have;
- for clients that are sampled, and for blocks in an order that is drawn anew, the run whose step sizes are those of the
  *mean* delays, averaged over participants that do not depend on these. tau_max and tau_avg keep near their means over
  many rounds, so that this is the mean over all participations up to a factor near one; it is no instance, and what
  `verify` says of one is by draws.

The mean delays of sampled clients are those of clients that come independently, each with probability p. With
lambda = -log(1 - p), the N ages of independent clients have the maximum H_N/lambda - 1/2 in the mean, and so has the
longest of the about N (1 + p T) absences with log in place of the harmonic number H.

Of R = N/S blocks in an order that is drawn anew a client whose turns in an epoch and in the next one are p and q,
counted from 0, is away for R - 1 - p + q rounds in between. In turn j the oldest of the (R - j) S clients that wait is
one of those that came first in the epoch before: with u clients waiting, the first k turns were none of theirs with
probability C(N - k S, u)/C(N, u).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.algorithms import Method
from ratecheck.aliases import Array
from ratecheck.exponents.modes.cyclic_modes import CyclicRun
from ratecheck.exponents.modes.exchangeable import ModeRun
from ratecheck.exponents.modes.modes import Modes
from ratecheck.exponents.modes.reshuffled_modes import ReshuffledRun
from ratecheck.participation.delays import Delays
from ratecheck.settings.applicability import step_source

# Laws of participation in blocks that go round; S divides N.
BLOCKS = frozenset({Assumption.CYCLIC_BLOCKS, Assumption.RESHUFFLED_BLOCKS})
# The cost of a run grows with how many there are.
MOST_BLOCKS = 1000
LAWS = frozenset({*BLOCKS, Assumption.UNIFORM_SUBSETS, Assumption.INDEPENDENT_PARTICIPATION})


@dataclass(frozen=True)
class Drawn:
    """A law at a setting: ``S`` clients in a round, or each with probability ``delta``.

    With ``half_always`` the first of two groups takes part in every round.
    """

    law: Assumption
    N: int
    S: float
    T: int
    delta: float = 1.0
    half_always: bool = False

    @property
    def has_instance(self) -> bool:
        """Whether what is computed is the left side of an instance, and not one that stands in for it."""
        return self.law is Assumption.CYCLIC_BLOCKS

    @property
    def takes_unlike(self) -> bool:
        """Whether clients may differ in curvature."""
        return self.law is not Assumption.RESHUFFLED_BLOCKS

    @property
    def unit(self) -> int:
        """The number of clients that always take part together."""
        return int(self.S) if self.law in BLOCKS else 1

    @property
    def delays(self) -> Delays:
        """tau_max over rounds 0 ... T and tau_avg over 0 ... T-1, or what stands in for them."""
        if self.law is Assumption.CYCLIC_BLOCKS:
            return _of_turns(round(self.N / self.S), self.T)
        if self.law is Assumption.RESHUFFLED_BLOCKS:
            return _of_drawn_turns(round(self.N / self.S), round(self.S), self.T)
        if self.law is Assumption.INDEPENDENT_PARTICIPATION:
            return mean_delays(self.N // 2 if self.half_always else self.N, self.delta, self.T)
        return mean_delays(self.N, self.S / self.N, self.T)

    @property
    def variants(self) -> tuple[tuple[str, Drawn], ...]:
        """The cases that the law leaves open where clients differ, in words: who takes part more often than needed."""
        if self.law is not Assumption.INDEPENDENT_PARTICIPATION:
            return (("", self),)
        return ("", self), (", one half always there", replace(self, half_always=True))

    def averages(
        self, method: Method, block: str, K: int, step_sizes: Mapping[str, float], modes: Modes, *,
        start: float, noise: float,
    ) -> Array:  # fmt: skip
        """(1/T) sum_{t<T} E ||grad f(x^t)||^2, (modes,), at given step sizes; NaN of more blocks than are followed."""
        if self.law in BLOCKS:
            if self.N > MOST_BLOCKS * self.S:
                return np.full(len(modes.curvature), np.nan)
            kind = CyclicRun if self.law is Assumption.CYCLIC_BLOCKS else ReshuffledRun
            turns = kind(method, block, int(self.S), K, self.T, step_sizes)
            return turns.averages(modes, start=start, noise=noise)
        if not self.half_always and not modes.slope.any() and (modes.curvature == modes.curvature[:, :1]).all():
            # Clients that are all alike are one group, which is a smaller map.
            modes = Modes(modes.curvature[:, :1], modes.slope[:, :1], (modes.n,))
        S, p = self.S, None
        if self.law is Assumption.INDEPENDENT_PARTICIPATION:
            p = (1.0 if self.half_always else self.delta, *[self.delta] * (len(modes.sizes) - 1))
            S = float(np.dot(modes.sizes, p))
        sampled = ModeRun(method, block, S, K, self.T, step_sizes, p)
        return sampled.averages(modes, {f"G_{block}": 1.0}, start=start, noise=noise)


def law_of(statement: Statement) -> Assumption | None:
    """The law of participation, where step sizes are those of the participation that is drawn; None for any."""
    return next((each for each in statement.assumptions if each in LAWS), None)


def stand_in(statement: Statement) -> str:
    """The participation in hard instances of a statement that averages over it, in a line; else nothing."""
    if Assumption.DRAWN_STEP_SIZES not in statement.assumptions:
        return ""
    law = law_of(statement)
    if law is None:
        return "a schedule that is drawn with probability one, with step sizes of its own delays"
    if law is Assumption.CYCLIC_BLOCKS:
        return "blocks in their fixed order, with step sizes of their own delays"
    if law in BLOCKS:
        return "an order drawn anew in every epoch; step sizes of the mean delays stand in for those of its own delays"
    return "drawn anew in every round; step sizes of the mean delays stand in for those of the delays that are drawn"


def in_blocks(statement: Statement) -> bool:
    """Whether clients take part in blocks that go round."""
    return bool(BLOCKS & {*statement.assumptions})


def drawn(statement: Statement, values: Mapping[str, float]) -> tuple[Drawn | None, dict[str, float]]:
    """The law at a setting, None for any participation; and the setting with a number of clients that it takes."""
    law = law_of(statement)
    if law is None:
        return None, dict(values)
    run = statement.vocabulary.run
    N, T = int(values[run["clients"]]), int(values[run["rounds"]])
    if law is Assumption.INDEPENDENT_PARTICIPATION:
        (delta,) = (values[s] for s, fact in statement.vocabulary.facts.items() if fact == "delta")
        return Drawn(law, N, N * delta, T, delta), dict(values)
    S = int(values[run["participants"]])
    N = S * max(round(N / S), 1) if law in BLOCKS else N
    return Drawn(law, N, float(S), T), {**values, run["clients"]: float(N)}


def with_step_sizes(
    statement: Statement, values: Mapping[str, float], delays: Delays | None = None
) -> dict[str, float]:
    """The values and the step sizes of the drawn participation: those of what the statement follows from.

    ``delays`` are the participation's, where ``values`` have none.
    """
    rules = step_source(statement)
    assert rules is not None
    facts = {fact: symbol for symbol, fact in rules.vocabulary.facts.items()}
    known = {name: value for name, value in values.items() if name in rules.parameters}
    if delays is not None:
        known |= {facts["tau_max"]: delays.tau_max, facts["tau_avg"]: delays.tau_avg}
    return {**values, **rules.complete(known)[0]}


def mean_delays(N: int, p: float, T: int) -> Delays:
    """About E[tau_max] and E[tau_avg] where each of N clients takes part with probability p, independently."""
    if p >= 1.0:
        return Delays(0.0, 0.0)
    from scipy.special import digamma

    decay, absences = -math.log1p(-p), N * (1 + p * T)
    longest = (math.log(absences) + float(-digamma(1))) / decay - 0.5
    oldest = float(digamma(N + 1) - digamma(1)) / decay - 0.5
    return Delays(min(max(longest, 0.0), T + 1.0), min(max(oldest, 0.0), float(T)))


def _of_turns(blocks: int, T: int) -> Delays:
    """Blocks in a fixed order: somebody is away since the start in the first turn, then for all others' rounds."""
    away = blocks - 1
    first = min(away, T)
    return Delays(float(min(away, T + 1)), (first * (first + 1) / 2 + away * (T - first)) / T)


def _of_drawn_turns(blocks: int, S: int, T: int) -> Delays:
    """About E[tau_max] and E[tau_avg] where the order of N = blocks * S clients is drawn anew in each epoch.

    Of more blocks than are followed it is that of so many, in proportion.
    """
    if blocks > MOST_BLOCKS:
        few = _of_drawn_turns(MOST_BLOCKS, S, T)
        return Delays(few.tau_max * blocks / MOST_BLOCKS, few.tau_avg * blocks / MOST_BLOCKS)
    if blocks == 1:
        return Delays(0.0, 0.0)
    from scipy.special import gammaln

    away, N = blocks - 1, blocks * S
    # After j = 1 ... R - 1 turns of an epoch N - j S clients wait; ``first`` is the earliest of their last turns.
    j, k = np.arange(1, blocks), np.arange(1, blocks)
    waiting = N - S * j[:, None]
    with np.errstate(invalid="ignore"):
        none = gammaln(N - k * S + 1) - gammaln(N - k * S - waiting + 1) + gammaln(N - waiting + 1) - gammaln(N + 1)
    first = np.where(N - k * S >= waiting, np.exp(none), 0.0).sum(axis=1)
    oldest = np.append(j + away - first, away)
    # In the first epoch those that wait have been away since the start.
    early = min(T, blocks)
    average = (float(np.append(j, away)[:early].sum()) + float(oldest.mean()) * (T - early)) / T
    # Of the pairs of turns in two epochs so many make an absence of at least 2 R - 2 - d, for d = 0, 1 ...
    d = np.arange(away)
    expected = S / blocks * (d + 1) * (d + 2) / 2 * max(T / blocks - 1, 0.0)
    longest = 2 * away - float(np.exp(-expected).sum())
    return Delays(min(longest, T + 1.0), min(average, float(T)))
