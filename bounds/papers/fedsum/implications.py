"""Implications of "FedSUM Family ... under Arbitrary Client Participation"."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

import bounds
from bounds.ledger.implication import Fact, Implication, Mean, Use, numbered
from bounds.papers.fedsum import symbols as f
from bounds.papers.fedsum.symbols import F_0, Delta_f, K, L, N, S, T, delta, eta, eta_l, tau_avg, tau_max
from bounds.statement import Condition

ONE, ZERO = sp.Integer(1), sp.Integer(0)
FORMS = ("", "-repaired")

# The delays of the participation that is drawn, where tau_max and tau_avg are their means.
drawn_max, drawn_avg = sp.Symbol("drawn_max", nonnegative=True), sp.Symbol("drawn_avg", nonnegative=True)
DRAWN = {tau_max: drawn_max, tau_avg: drawn_avg}
# The sum over t < T, i in A_t and k < K of E||x_i^{a_{i,t},k} - x^{a_{i,t}}||^2.
drift_sum = sp.Symbol("drift_sum", nonnegative=True)
LAST = sp.Symbol("tau_T", nonnegative=True)

# Logarithms as numbers of their own, of which only the sign is used.
LOGARITHMS = {
    sp.log(N * T): sp.Symbol("log_NT", nonnegative=True),
    sp.log(1 / delta): sp.Symbol("log_1_delta", nonnegative=True),
}

# Where each appendix derives what its statements are put into.
_EQUATIONS = {
    "c": {"movement": "eq. (15)", "inner": "eqs. (25) to (27)", "descent": "eq. (31)"},
    "d": {
        "movement": "Appendix D",
        "inner": "eqs. (64) to (66)",
        "descent": "eq. (70)",
        "parts": "eqs. (44) to (47), (61)",
        "drift": "eq. (59)",
    },
    "e": {
        "movement": "Appendix E",
        "inner": "Appendix E",
        "descent": "eq. (102)",
        "parts": "eqs. (80) to (83), (97)",
        "drift": "eq. (95)",
    },
}


# The steps of the ledger that show it. Appendix E refers to D for the lemmas that it does not prove again.
_DRIFT = tuple(range(9, 41))
# The repaired lines count the windows of eqs. (54) and (90) at once; the last puts all of them together.
_MENDED_DRIFT = (*range(9, 24), 29, 30, *range(32, 39), 40)
_STEPS = {
    "c": {
        "movement": numbered("fedsum/lemma-c.1", 1, 2),
        "inner": numbered("fedsum/lemma-c.5", 2, *range(4, 14)),
        "descent": numbered("fedsum/lemma-c.6", 5),
        "parts": numbered("fedsum/lemma-c.4", *range(1, 16), *range(17, 21)),
    },
    "d": {
        "movement": numbered("fedsum/lemma-d.1", 1, 2),
        "inner": numbered("fedsum/lemma-d.5", 2, *range(4, 13)),
        "descent": numbered("fedsum/lemma-d.6", 5),
        "parts": numbered("fedsum/lemma-d.4", *range(1, 9), 42, 43, 53),
        "drift": numbered("fedsum/lemma-d.4", *_DRIFT),
        "repaired drift": numbered("fedsum/lemma-d.4", *_MENDED_DRIFT, 54, 55),
    },
    "e": {
        "movement": (*numbered("fedsum/lemma-e.1", 2), *numbered("fedsum/lemma-d.1", 2)),
        "inner": numbered("fedsum/lemma-e.5-lines", 1, *range(3, 13)),
        "descent": numbered("fedsum/lemma-e.6", 5),
        "parts": numbered("fedsum/lemma-e.4", *range(1, 9), 42, 43, 54),
        "drift": numbered("fedsum/lemma-e.4", *_DRIFT),
        "repaired drift": numbered("fedsum/lemma-e.4", *_MENDED_DRIFT, 55, 56),
    },
}


# What of these facts no step says.
_LAST_ROUND = "the steps are about rounds before T, the sums about round T as well"


def _at_most(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(name=name, left=left, operator="<=", right=right)


def _either(one: sp.Expr, other: sp.Expr) -> Condition:
    """No hypothesis, but a case distinction, as for (sqrt(one) - sqrt(other))^2 >= 0."""
    return _at_most("either", one, sp.Max(one, other))


_ORDERED = _at_most("drawn delays", drawn_avg, drawn_max)
_AWAY = _at_most("somebody is away", ONE, drawn_max)


def _from(conclusion: str, premise: str, location: str, remark: str = "", at: dict | None = None) -> Implication:
    """A conclusion that is its premise at its own step sizes, or weaker."""
    return Implication(
        conclusion=f"fedsum/{conclusion}",
        start=Use(key=f"fedsum/{premise}"),
        at=at or {},
        location=location,
        remark=remark,
    )


class _Appendix:
    """The lemmas of one of the three algorithms. FedSUM-B's sums leave out its K equal gradients: ``times`` is K^2."""

    def __init__(self, letter: str, prefix: str, times: sp.Expr) -> None:
        self.letter, self.times, self.equations, self.steps = letter, times, _EQUATIONS[letter], _STEPS[letter]
        names = ("aggregate_sum", "aggregate_sum_T", "window_sum", "delayed_window_sum", "stale_sum", "noise_inner_sum")
        self.aggregate, self.aggregate_T, self.window, self.delayed, self.stale, self.inner = (
            f.VOCABULARY[prefix + name].symbol for name in names
        )
        self.noise = Use(key="fedsum/lemma-b.1")

    def _use(self, name: str) -> Use:
        kind, _, number = name.partition(".")
        return Use(key=f"fedsum/{kind}-{self.letter}.{number}")

    def _location(self, number: int) -> str:
        return f"Appendix {self.letter.upper()}, proof of Lemma {self.letter.upper()}.{number}"

    def _movement(self) -> Implication:
        return Implication(
            conclusion=f"fedsum/lemma-{self.letter}.1",
            start=Fact(
                location=self.equations["movement"],
                quantity=f.moved_sum,
                bound=2 * eta**2 / N**2 * (T * f.noise_square + self.times * self.aggregate),
                steps=self.steps["movement"],
            ),
            steps=(self.noise,),
            location=self._location(1),
        )

    def _weighted_windows(self) -> Implication:
        return Implication(
            conclusion=f"fedsum/corollary-{self.letter}.3",
            start=Fact(
                location="tau_t <= tau_max, the largest of them",
                quantity=self.delayed,
                bound=tau_max * self.window,
                by_definition=True,
            ),
            steps=(self._use("lemma.2"),),
            location=f"Appendix {self.letter.upper()}",
        )

    def _noise_inner(self, form: str) -> Implication:
        one_more = Fact(
            location="what round T adds is not negative",
            quantity=self.aggregate,
            bound=self.aggregate_T,
            by_definition=True,
        )
        return Implication(
            conclusion=f"fedsum/lemma-{self.letter}.5{form}",
            start=Fact(
                location=self.equations["inner"],
                quantity=self.inner,
                bound=eta**2 * L / N**2 * (3 * T * tau_avg * f.noise_square + 2 * self.times * self.window),
                steps=self.steps["inner"],
            ),
            steps=(self.noise, self._use("lemma.2"), *(() if form else (one_more,))),
            location=self._location(5),
        )

    def _descent(self, form: str, middle: str) -> Implication:
        total = (
            Delta_f
            + self.inner
            + L / 2 * f.moved_sum
            + eta * self.times / (2 * N**2 * K) * (self.stale - self.aggregate)
        )
        return Implication(
            conclusion=f"fedsum/lemma-{self.letter}.6{form}",
            start=Fact(
                location=f"{self.equations['descent']}, solved",
                quantity=f.G_u,
                bound=2 / (eta * K * T) * total,
                steps=self.steps["descent"],
            ),
            steps=(self._use("lemma.5-repaired"), self._use("lemma.1"), self._use(f"lemma.{middle}")),
            location=self._location(6),
        )

    def _tuned(self, form: str) -> Implication:
        return _from(
            f"theorem-{self.letter}.1{form}",
            f"lemma-{self.letter}.6{form}",
            f"Appendix {self.letter.upper()}, proof of Theorem {self.letter.upper()}.1",
        )


class _Exact(_Appendix):
    """Appendix C: gradients at the server's points, so that nothing drifts."""

    def implications(self) -> Iterator[Implication]:
        yield self._movement()
        yield self._weighted_windows()
        yield self._staleness("", f.stale_sum_T, LAST, {f.aggregate_sum: f.aggregate_sum_T})
        yield self._staleness("-repaired", f.stale_sum, ZERO, {})
        for form in FORMS:
            yield self._noise_inner(form)
        for form in FORMS:
            yield self._descent(form, "4-repaired")
        for form in FORMS:
            yield self._tuned(form)

    def _staleness(self, form: str, quantity: sp.Symbol, last: sp.Expr, later: dict[sp.Expr, sp.Expr]) -> Implication:
        delays = T * tau_avg + last
        moved = 2 * eta**2 / N * (tau_max * delays * f.noise_square + K**2 * self.delayed)
        return Implication(
            conclusion=f"fedsum/lemma-c.4{form}",
            start=Fact(
                location="eqs. (17) to (22)",
                quantity=quantity,
                bound=2 * N * L**2 * moved + 2 * N**2 * tau_max * F_0,
                steps=self.steps["parts"],
                missing=_LAST_ROUND if last else "",
            ),
            steps=(self.noise, Use(key="fedsum/corollary-c.3", at=later)),
            given=(_at_most("delay of round T", last, tau_max),) if last else (),
            location=self._location(4),
            remark="With the rounds up to T in both sums, and tau_T for the delay of round T." if last else "",
        )


class _Drifting(_Appendix):
    """Appendices D and E: gradients at the local iterates."""

    def implications(self) -> Iterator[Implication]:
        yield self._movement()
        yield self._weighted_windows()
        yield self._staleness("", self._printed_drift())
        yield self._staleness("-repaired", self._repaired_drift())
        for form in FORMS:
            yield self._noise_inner(form)
        for form in FORMS:
            yield self._descent(form, f"4{form}")
        for form in FORMS:
            yield self._tuned(form)

    def _staleness(self, form: str, drift: Fact) -> Implication:
        moved = 2 * eta**2 * (tau_max * T * tau_avg * f.noise_square + self.delayed)
        return Implication(
            conclusion=f"fedsum/lemma-{self.letter}.4{form}",
            start=Fact(
                location=self.equations["parts"],
                quantity=self.stale,
                bound=3 * K**2 * L**2 * moved + 3 * N * K * L**2 * drift_sum + 3 * K**2 * N**2 * tau_max * F_0,
                steps=self.steps["parts"],
            ),
            steps=(drift, self.noise, self._use("corollary.3")),
            location=self._location(4),
        )

    def _printed_drift(self) -> Fact:
        """Eq. (59) or (95), solved for the drift; each noise, N*K*sigma^2 in all, as in Lemma B.1."""
        power = 2 if self.letter == "e" else 1
        rest = (
            20 * eta_l**2 / N**2 * K * T * f.noise_square
            + 40 * eta**2 * eta_l**2 * tau_max**2 * K**3 * L**2 / N**3 * self.aggregate
            + 20 * eta**2 * eta_l**2 / N**3 * tau_max**2 * K**3 * T * L**2 * f.noise_square
            + 4 * eta_l**2 / N * K * (tau_max**power * self.aggregate + T * f.noise_square)
        )
        kept = 10 * eta_l**2 / N**2 * K**2 * L**2 * (1 + tau_max)
        return Fact(
            location=f"{self.equations['drift']}, solved",
            quantity=drift_sum,
            bound=rest / (1 - kept),
            steps=self.steps["drift"],
        )

    def _repaired_drift(self) -> Fact:
        """The drift with tau_max + 1 rounds, the first participation, sum_k k <= K^2/2 and sum_k k^2 <= K^3/3."""
        rounds = tau_max + 1
        rest = (
            10 * eta_l**2 / N**2 * K * T * f.noise_square
            + sp.Rational(20, 3)
            * eta**2
            * eta_l**2
            * rounds**2
            * K**3
            * L**2
            / N**3
            * (self.aggregate + T * f.noise_square)
            + sp.Rational(4, 3) * eta_l**2 / N * K * (rounds * self.aggregate + T * f.noise_square)
            + sp.Rational(8, 3) * eta_l**2 / N * K**3 * rounds * F_0
        )
        kept = 10 * eta_l**2 / N**2 * K**2 * L**2 * (sp.Rational(1, 2) + rounds / 3)
        return Fact(
            location=f"{self.equations['drift']}, repaired and solved",
            quantity=drift_sum,
            bound=rest / (1 - kept),
            steps=self.steps["repaired drift"],
            joined=f"fedsum/lemma-{self.letter}.4-40",
        )


def _cases() -> Iterator[Implication]:
    """Corollary G.1 from Theorem G.1, whose bound's expectation is taken, and the delays of Lemmas F."""
    printed = bounds.get("fedsum/theorem-g.1").claims[0].bound
    expected = Mean(drawn=DRAWN, bound=printed.xreplace({f.AVERAGE: tau_max}))
    for case in (1, 3, 4):
        delays = Use(key=f"fedsum/lemma-f.{case}", at={f.E_tau_max: tau_max})
        conclusion, start = f"fedsum/corollary-g.1-case-{case}", Use(key="fedsum/theorem-g.1-repaired")
        yield Implication(
            conclusion=conclusion,
            start=start,
            given=(_ORDERED, _AWAY, _at_most("mean delay", ONE, tau_max), _either(tau_max, drawn_avg)),
            known=(delays,),
            mean=expected,
            at=LOGARITHMS,
            location="Appendix G",
            remark="For S < N, where in round 0 somebody is away.",
        )
        if case != 1:
            yield Implication(
                conclusion=conclusion,
                start=start,
                at={S: N, tau_max: ZERO, tau_avg: ZERO},
                location="Appendix G",
                remark="For S = N, where nobody is ever away.",
            )


IMPLICATIONS: tuple[Implication, ...] = (
    *(_from(f"theorem-4.1{form}", f"theorem-g.1{form}", "Appendix G, after Theorem G.1") for form in FORMS),
    *(
        Implication(
            conclusion=f"fedsum/corollary-4.1{form}",
            start=Use(key=f"fedsum/theorem-4.1{form}"),
            given=(_ORDERED, _either(tau_avg, drawn_avg), *(() if form else (_AWAY,))),
            mean=Mean(drawn=DRAWN),
            location="Section 4, after Theorem 4.1",
        )
        for form in FORMS
    ),
    *_Exact("c", "", K**2).implications(),
    *_Drifting("d", "local_", ONE).implications(),
    *_Drifting("e", "local_", ONE).implications(),
    *(
        _from(f"theorem-g.1{form}", f"theorem-{letter}.1{form}", "Appendix G", "The same bound at the same steps.")
        for form in FORMS
        for letter in "cde"
    ),
    *_cases(),
    Implication(
        conclusion="fedsum/corollary-g.1-case-2-repaired",
        start=Use(key="fedsum/corollary-4.1-repaired"),
        known=(Use(key="fedsum/lemma-f.2", at={f.E_tau_max: tau_max}),),
        at=LOGARITHMS,
        location="Appendix G",
    ),
    Implication(
        conclusion="fedsum/corollary-g.1-case-2",
        start=Use(key="fedsum/theorem-g.1-repaired"),
        at={N: ONE, T: ONE, delta: ONE, tau_max: ZERO, tau_avg: ZERO},
        location="Appendix G",
        remark="At N = T = delta = 1, where nobody is ever away.",
    ),
)

AUDITED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    *(
        (f"fedsum/lemma-{x}.4{form}", (f"fedsum/lemma-{x}.2",), f"is used by way of Corollary {x.upper()}.3 only")
        for x in "cde"
        for form in FORMS
    ),
    (
        "fedsum/corollary-g.1-case-2",
        ("fedsum/lemma-f.2",),
        "false at N = T = delta = 1, where the lemma's delay 0 is right; the repaired form uses the lemma",
    ),
)
