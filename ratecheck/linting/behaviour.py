"""Limits and growth of a bound: it has a value in limits, grows with the constants, falls with the rounds.

None of it is needed for a bound to be right, so that all of it are notes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from bounds.errors import NoValueError
from bounds.statement import Claim, Over, Relation, Statement, names_in, number
from bounds.symbols import Domain, Role
from ratecheck.certification.certified_constants import NOISE
from ratecheck.errors import InputError
from ratecheck.linting.draws import DrawnSettings
from ratecheck.linting.finding import Finding, Found, Level, NotChecked, at

LIMITS, GROWTH = "limits", "growth"
# Constants of which a problem has at most so much, and delays: a larger one is a weaker assumption.
_LARGER_IS_WEAKER = frozenset(
    {
        *("L", "L_1", "L_2", "L_3", "L_f", "b", "F_0", "Delta_f", "B_0", "beta_gh", "sigma_gh", "eps_max"),
        *("sigma", "sigma_u", "sigma_v", "sigma_f", "sigma_g", "sigma_gg", "tau_max", "tau_avg"),
    }
)
# Claims whose bounds are expected to fall as there are more rounds.
_OF_T = (Over.MEAN_OF_ROUNDS, Over.LAST_ROUND, Over.AFTER_ROUNDS, Over.BEST_ROUND)
# How far rounds go, and how much of the bound may be left there.
_LONG, _LEFT = 1e12, 1e-2
_ROUNDING = 1e-9


def check(statement: Statement, drawn: DrawnSettings) -> Found:
    """Limits and directions of the first claim's bound, and of the others."""
    if statement.order_only:
        yield NotChecked(check=LIMITS, reason="the right side is known only up to a constant")
        return
    if not drawn.settings:
        yield NotChecked(check=LIMITS, reason="no random setting meets the conditions")
        return
    for claim in statement.claims:
        # Quantities of the run move with what is varied.
        measured = any(statement.vocabulary[one.name].role is Role.MEASURED for one in claim.bound.free_symbols)
        upper = claim.relation is Relation.AT_MOST and not statement.instance
        if upper and not measured and claim.metric.over is not Over.NO_RUN:
            looked = _Looked(statement, claim, drawn)
            yield from looked.limits()
            yield from looked.growth()


class _Looked:
    """One claim at the settings that were drawn."""

    def __init__(self, statement: Statement, claim: Claim, drawn: DrawnSettings) -> None:
        self.statement, self.claim = statement, claim
        ruled = {rule.symbol.name for rule in statement.step_rules}
        steps = {name for name in statement.parameters if statement.vocabulary[name].role is Role.STEP_SIZE}
        # Step sizes of which the bound says nothing follow from the others.
        dropped = ruled | (steps - names_in(claim.bound)) | {*statement.settings} | {*statement.vocabulary.derived}
        self.points = [{k: v for k, v in values.items() if k not in dropped} for values in drawn.settings]
        self.tuned = not (steps - ruled) & names_in(claim.bound)
        self.names = sorted(
            {*names_in(claim.bound), *(name for rule in statement.step_rules for name in names_in(rule.value))}
            & {*statement.parameters},
            key=statement.vocabulary.order.__getitem__,
        )

    def value(self, values: Mapping[str, float], label: str = "") -> float | None:
        """The bound, or a term of it; None where the conditions do not admit it, infinite where it has no value."""
        try:
            completed, _ = self.statement.complete(values)
        except NoValueError:
            return math.inf
        except InputError:
            return None
        if any(each.holds is False for each in self.statement.check_conditions(completed)):
            return None
        expr = self.claim.terms[label] if label else self.claim.bound
        return number(expr, completed) if names_in(expr) <= completed.keys() else None

    def limits(self) -> Iterator[Finding]:
        """Without noise, without dissimilarity, with one local step, with everybody, and after many rounds."""
        vocabulary, run = self.statement.vocabulary, self.statement.vocabulary.run
        noise = [name for name in self.names if vocabulary.facts.get(name) in NOISE]
        moved: list[tuple[str, dict[str, float]]] = []
        if noise:
            moved.append((" = ".join([*noise, "0"]), dict.fromkeys(noise, 0.0)))
        moved += [("b = 0", {"b": 0.0})] if "b" in self.names and vocabulary["b"].domain is Domain.NONNEGATIVE else []
        moved += [
            (f"{run[role]} = 1", {run[role]: 1.0})
            for role in ("local_steps", "rounds")
            if role in run and run[role] in self.names
        ]
        for words, change in moved:
            if not {*change} & {*self.statement.settings}:
                yield from self._finite(words, change)
        if {"clients", "participants"} <= run.keys() and run["participants"] not in self.statement.settings:
            yield from self._everybody(run["clients"], run["participants"])
        if self.claim.metric.over in _OF_T and self.tuned and run.get("rounds") in self.names:
            yield from self._many_rounds(run["rounds"])

    def _finite(self, words: str, change: Mapping[str, float]) -> Iterator[Finding]:
        for values in self.points:
            there = self.value({**values, **change})
            if there is not None and not math.isfinite(there):
                here = self.value(values)
                yield self._note(
                    LIMITS,
                    f"with {words} the bound has no value: at {at(values, self.names)} it is {here:.6g}, and with "
                    f"{words} it divides by zero or leaves the real numbers",
                    f"take a form of the bound or of the step rule that has a value there, or exclude {words}",
                )
                return

    def _everybody(self, clients: str, participants: str) -> Iterator[Finding]:
        for label in self.claim.terms:
            if not any(word in label.lower() for word in ("sampling", "participation")):
                continue
            for values in self.points:
                if participants not in values:
                    continue
                everybody = {**values, clients: values[participants]}
                there = self.value(everybody, label)
                if there is not None and there > 0:
                    yield self._note(
                        LIMITS,
                        f"with {participants} = {clients} the term {label!r} does not vanish: at "
                        f"{at(everybody, self.names)} it is {there:.6g}",
                        f"a factor such as ({clients} - {participants}), or another name of the term",
                        part=label,
                    )
                    break

    def _many_rounds(self, rounds: str) -> Iterator[Finding]:
        for values in self.points:
            first, last = (self.value({**values, rounds: many}) for many in (1.0, _LONG))
            if first is None or last is None or not 0 < first < math.inf:
                continue
            if not last <= _LEFT * first:
                yield self._note(
                    LIMITS,
                    "the step sizes are prescribed, and the bound does not tend to 0: at "
                    f"{at(values, self.names)} it is {first:.6g} with {rounds} = 1 "
                    f"and {last:.6g} with {rounds} = {_LONG:g}",
                    f"step sizes that fall with {rounds}, where no error is meant to stay",
                )
                return

    def growth(self) -> Iterator[Finding]:
        """Larger constants that make the bound smaller, and more rounds that make it larger."""
        facts, rounds = self.statement.vocabulary.facts, self.statement.vocabulary.run.get("rounds")
        for name in self.names:
            weaker = name in _LARGER_IS_WEAKER or facts.get(name) in _LARGER_IS_WEAKER
            if weaker and name not in self.statement.settings:
                yield from self._direction(name, 1.0, "a problem with the smaller one has the larger one, too")
            elif name == rounds and self.claim.metric.over in _OF_T:
                yield from self._direction(name, -1.0, "longer runs are expected to do better")

    def _direction(self, name: str, sign: float, why: str) -> Iterator[Finding]:
        against = []
        for values in self.points:
            if name not in values:
                continue
            here, there = self.value(values), self.value({**values, name: 2 * values[name]})
            if here is None or there is None or not (math.isfinite(here) and math.isfinite(there)):
                continue
            if sign * (there - here) < -_ROUNDING * max(abs(here), abs(there)):
                against.append((values, here, there))
        if against:
            values, here, there = against[0]
            falls = "falls" if sign > 0 else "grows"
            yield self._note(
                GROWTH,
                f"the bound {falls} as {name} doubles, at {len(against)} of {len(self.points)} random settings: at "
                f"{at(values, self.names)} it is {here:.6g}, and with {name}={2 * values[name]:g} {there:.6g}; {why}",
                "see whether a power has the wrong sign",
                part=name,
            )

    def _note(self, check: str, text: str, remedy: str, part: str = "") -> Finding:
        return Finding(
            level=Level.NOTE,
            check=check,
            field="right",
            part=part,
            text=text,
            remedy=remedy,
            settings=len(self.points),
        )
