"""Implications of "SimFBO: Towards ... Communication-efficient Federated Bilevel Learning"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import sympy as sp

import bounds
from bounds.ledger.implication import Fact, Implication, Use, numbered
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.symbols import P, n, rho, rho_bar, tau_bar
from bounds.statement import Condition

FORMS = ("", "-repaired")
# The other clients: n - P.
away = sp.Symbol("away", positive=True)


def _abbreviated(*constants: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """A symbol for each sum, also where a whole number has been multiplied out into it."""
    symbols = [sp.Symbol(f"c_{i}", positive=True) for i in range(len(constants))]
    return {k * sum_: k * symbol for sum_, symbol in zip(constants, symbols, strict=True) for k in (1, 2, 3, 4, 6, 12)}


ABBREVIATIONS = {
    "": _abbreviated(
        formulas.BRACKET,
        formulas.K_1_NUMERATOR,
        formulas.SLOPE,
        formulas.SIZE,
        formulas.SIGMA_M1_2,
        formulas.SIGMA_M2_2,
        formulas.L_R**2,
        1 + s.alpha_max / s.alpha_min,
    ),
    "-repaired": _abbreviated(
        formulas.M_1_REPAIRED,
        formulas.M_2_REPAIRED,
        formulas.M_3_REPAIRED,
        formulas.SIGMA_M1_2_REPAIRED,
        formulas.SIGMA_M2_2_REPAIRED,
    ),
}
ORDERS = _abbreviated(formulas.M_1, formulas.M_2, formulas.M_3)
ORDERS[formulas.M_1 + formulas.M_2] = ORDERS[formulas.M_1] + ORDERS[formulas.M_2]
RATE = _abbreviated(formulas.M_1, formulas.M_2, formulas.M_3, formulas.SIGMA_M1_2, formulas.SIGMA_M2_2)

# Means over the rounds, where rho^(t) has the mean rho_bar and lies from rho_bar/2 to 3*rho_bar/2.
OVER_ROUNDS = {rho**2: sp.Rational(5, 4) * rho_bar**2, rho: rho_bar, s.grad_Phi_w2: s.grad_Phi_w2 / 2}
_NOISE_WEIGHTS = (
    Fact(
        location="Lemma 2, |v_i^k| <= r_max",
        quantity=s.noise_weight_r,
        bound=formulas.R_MAX**2 * s.noise_weight,
        steps=numbered("simfbo/lemma-2", 7),
    ),
    Fact(
        location="eq. (48), w_i <= beta_max/n and |a_i|_2^2 <= alpha_max*|a_i|_1",
        quantity=s.noise_weight,
        bound=s.beta_max * s.alpha_max / (n * s.c_a_prime * tau_bar * s.alpha_min),
        steps=numbered("simfbo/theorem-1", 19, 21),
    ),
)


# With the repaired Lemma 2, whose bound r is at most r_max.
_NOISE_WEIGHTS_REPAIRED = (replace(_NOISE_WEIGHTS[0], steps=numbered("simfbo/lemma-2", 8, 9)), _NOISE_WEIGHTS[1])


def _restated(
    conclusion: str,
    premise: Use,
    location: str,
    *,
    at: dict[sp.Expr, sp.Expr] | None = None,
    given: tuple[Condition, ...] = (),
    using: tuple[str, ...] | None = None,
    remark: str = "",
) -> Implication:
    """A conclusion that is its premise, or a special case of it."""
    return Implication(
        conclusion=f"simfbo/{conclusion}",
        start=premise,
        at=at or {},
        given=given,
        using=using,
        location=location,
        remark=remark,
    )


def _theorem_2(conclusion: str, premise: str, location: str, constants: dict[sp.Expr, sp.Expr]) -> Implication:
    return _restated(
        conclusion,
        Use(key=f"simfbo/{premise}", at={s.grad_Phi_w2: s.grad_Phi2}),
        location,
        at=constants,
        using=(),
        remark="At w_i = p_i: of w_i and rho^(t) the proof of Theorem 1 uses that the w_i are fixed, positive and add "
        "up to 1, and the bounds on rho^(t), and nothing of how they are made of the a_i; no step of it has that.",
    )


def _theorem_1(form: str) -> Implication:
    return Implication(
        conclusion=f"simfbo/theorem-1{form}",
        start=Use(key=f"simfbo/lyapunov{form}", claim="descent", at=OVER_ROUNDS),
        steps=_NOISE_WEIGHTS_REPAIRED if form else _NOISE_WEIGHTS,
        telescoped=s.psi_gap,
        at=ABBREVIATIONS[form],
        using=(),
        location="Appendix D.6, eqs. (46) to (53)",
        remark="The mean of (rho^(t))^2 is at most 5/4 of rho_bar^2; the paper takes 3/2.",
    )


# Lemma 6 at each local step of each client, averaged with the weights.
_LOCAL_POINTS = {s.dx2: s.drift_x, s.dy2: s.drift_y, s.dv2: s.drift_v}
_CHANGE_F, _CHANGE_G = (s.VOCABULARY[f"{name}_change2"].symbol for name in "fg")
_LEMMA_8 = ABBREVIATIONS[""]


def _simplified(claim: str, change: sp.Symbol, drift: sp.Symbol) -> Implication:
    """The changes along the local steps by Lemma 6 and the drifts."""
    return Implication(
        conclusion="simfbo/lemma-8-simplified",
        claim=claim,
        start=Use(key="simfbo/lemma-6", claim=claim, at={**_LOCAL_POINTS, change: drift}),
        steps=(
            Use(key="simfbo/lemma-8", claim="x"),
            Use(key="simfbo/lemma-8", claim="v"),
            Use(key="simfbo/lemma-8-simplified", claim="y"),
        ),
        at=_LEMMA_8,
        location="Appendix D.2, eq. (22)",
    )


def _uses(*names: str) -> tuple[Use, ...]:
    """Statements by their names, or only one of their claims: ``lemma-5:g``."""
    parts = (name.partition(":") for name in names)
    return tuple(Use(key=f"simfbo/{key}", claim=claim or None) for key, _, claim in parts)


def _by_lines(
    conclusion: str,
    claims: dict[str, tuple[str, ...]],
    location: str,
    *known: str,
    joined: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Implication]:
    """Each claim from its lines, about vectors, which use the ``known`` statements; ``joined`` has the last of each."""
    statement = bounds.get(f"simfbo/{conclusion}")
    for claim in statement.claims:
        ((quantity, _),) = claim.metric.weights.items()
        lines = Fact(
            location=location,
            quantity=quantity,
            bound=claim.bound,
            steps=claims[claim.name],
            joined=joined.get(claim.name, ""),
        )
        yield Implication(
            conclusion=statement.key, claim=claim.name, start=lines, known=_uses(*known), location=location
        )


def _of(part: str, *numbers: int) -> tuple[str, ...]:
    return numbered(f"simfbo/lemma-{part}", *numbers)


_MOMENT = _of("9", 1, 2, 3, 4, 6, 11, 23, 24, 25)
_BOTH = _of("10", 1, 2, 5, 7, 11, 16, 26, 27, 28, 29)


def _lemmas() -> Iterator[Implication]:
    """The lemmas, in the forms that hold, from what their proofs say of vectors."""
    yield from _by_lines("lemma-2-repaired", {"main": _of("2", 8, 9)}, "Appendix C, proof of Lemma 2")
    yield from _by_lines(
        "lemma-4-repaired",
        {
            "surrogate": _of("4", 1),
            "Phi": _of("4", 2),
            "y": _of("4", 19),
            "y jacobian": _of("4", 3),
            "v": _of("4", 9, 21),
            "v jacobian": _of("4", 20),
        },
        "Appendix C, proof of Lemma 4",
        "lemma-1",
    )
    yield from _by_lines(
        "lemma-5",
        {"g": _of("5", 1, 2, 6), "R": _of("5", 3, 4, 7), "f": _of("5", 3, 4, 7)},
        "Appendix C, proof of Lemma 5",
    )
    yield from _by_lines(
        "lemma-6", {"f": _of("6", 1, 2, 5), "g": _of("6", 6), "R": _of("6", 1, 2, 5)}, "Appendix C, proof of Lemma 6"
    )
    yield from _by_lines(
        "lemma-7-repaired",
        {"main": _of("7", 1, 2, 3, 4, 5, 6, 8, 10, 9)},
        "Appendix D.1, proof of Lemma 7",
        "lemma-1",
        "lemma-4-repaired:Phi",
        "lemma-6:f",
        joined={"main": "simfbo/lemma-7-9"},
    )
    bounded = _of("8", 1, 11, 12, 20, 21, 24)
    yield from _by_lines(
        "lemma-8-repaired",
        {"x": bounded, "v": bounded, "y": _of("8", 1, 20, 21, 22, 23, 24, 25)},
        "Appendix D.2, proof of Lemma 8",
        "lemma-2-repaired",
        "lemma-5",
        joined={"x": "simfbo/lemma-8-21", "y": "simfbo/lemma-8-23", "v": "simfbo/lemma-8-21"},
    )
    yield from _by_lines(
        "lemma-9-repaired",
        {
            "x": (*_MOMENT, *_of("9", 5, 26, 27)),
            "y": (*_MOMENT, *_of("7", 8), *_of("9", 17, 18, 19, 28)),
            "v": (*_MOMENT, *_of("7", 8), *_of("9", 5, 19, 21, 26, 27)),
        },
        "Appendix D.3, proof of Lemma 9",
        "lemma-1",
        "lemma-3",
        "lemma-5",
        "lemma-6",
        joined={"x": "simfbo/lemma-9-27", "y": "simfbo/lemma-9-28", "v": "simfbo/lemma-9-27"},
    )
    yield from _by_lines(
        "lemma-10-repaired",
        {"y": (*_BOTH, *_of("10", 12, 13, 14, 15, 30)), "v": (*_BOTH, *_of("10", 20, 22, 23, 31, 32, 30))},
        "Appendix D.4, proof of Lemma 10",
        "lemma-1",
        "lemma-2-repaired",
        "lemma-3",
        "lemma-4-repaired",
        joined=dict.fromkeys(("y", "v"), "simfbo/lemma-10-30"),
    )


_LYAPUNOV = ("lemma-2-repaired", "lemma-7-repaired", "lemma-8-repaired", "lemma-9-repaired", "lemma-10-repaired")


def _step_sizes() -> Iterator[Implication]:
    """(39) in every round; the bounds on the local step sizes are conditions."""
    statement = bounds.get("simfbo/stepsizes-repaired")
    for claim in statement.claims:
        rounds = claim.name == "rho_gamma_x"
        lines = Fact(
            location="(39) in every round" if rounds else "a condition",
            quantity=claim.metric.expr,
            bound=claim.bound,
            steps=numbered("simfbo/stepsizes", 3) if rounds else (),
            by_definition=not rounds,
        )
        yield Implication(conclusion=statement.key, claim=claim.name, start=lines, using=(), location="Appendix D.5")


def _lyapunov() -> Implication:
    (claim,) = bounds.get("simfbo/lyapunov-repaired").claims
    return Implication(
        conclusion="simfbo/lyapunov-repaired",
        start=Fact(
            location="eqs. (37) to (45), repaired",
            quantity=s.psi_change,
            bound=claim.bound,
            steps=numbered("simfbo/lyapunov", *range(16, 31)),
            joined="simfbo/lyapunov-29",
        ),
        # Of these the steps have the right sides; their conditions are met.
        steps=_uses(*_LYAPUNOV),
        # The steps use (39) too, which as a hypothesis here, with a maximum in it, would only slow the search down.
        known=_uses("stepsizes-repaired:eta_v"),
        given=(Condition(name="smoothness", left=s.mu_g, operator="<=", right=s.L_1),),
        using=("eta_x", "eta_y", "eta_v", "heterogeneity", "clients"),
        location="Appendix D.5",
    )


IMPLICATIONS: tuple[Implication, ...] = (
    *_lemmas(),
    *_step_sizes(),
    _lyapunov(),
    _restated("proposition-2-repaired", Use(key="simfbo/lemma-10-repaired", claim="v"), "Section 3.2"),
    *(
        _restated(
            f"proposition-3{form}",
            Use(key=f"simfbo/lemma-8{form}", claim="v"),
            "Section 3.2",
            given=tuple(
                c for c in bounds.get(f"simfbo/lemma-8{form}").conditions if s.eta_v not in c.left.free_symbols
            ),
            remark="The conditions of Lemma 8 that the proposition leaves out are for its other claims.",
        )
        for form in FORMS
    ),
    Implication(
        conclusion="simfbo/lemma-8-simplified",
        claim="y",
        start=Use(key="simfbo/lemma-8", claim="y"),
        location="Appendix D.2, eq. (21)",
    ),
    _simplified("f", _CHANGE_F, s.drift_f),
    _simplified("g", _CHANGE_G, s.drift_g),
    *map(_theorem_1, FORMS),
    _restated(
        "theorem-1-order-full",
        Use(key="simfbo/theorem-1-order"),
        "Appendix D.6",
        at={P: n},
        using=(),
        remark="At P = n.",
    ),
    _restated(
        "theorem-1-order-partial",
        Use(key="simfbo/theorem-1-order"),
        "Appendix D.6",
        at={**ORDERS, tau_bar: (P + away) / away, n: P + away},
        using=(),
        remark="At tau_bar = n/(n - P).",
    ),
    _theorem_2("theorem-2", "theorem-1", "Section 3.2", RATE),
    _theorem_2("theorem-2-appendix", "theorem-1", "Appendix E", RATE),
    _theorem_2("theorem-2-repaired", "theorem-1-repaired", "Section 3.2", ABBREVIATIONS["-repaired"]),
)


def _keys(*names: str) -> tuple[str, ...]:
    return tuple(f"simfbo/{name}" for name in names)


_BY_VECTORS = "is about vectors (an expectation over noise, sampling or local steps), not about the right sides alone"
_SAME_CONDITIONS = "the same conditions and constants, put into both statements from the same formulas"
_ORDER = "an order: constants such as alpha_max, sigma_M1 and c_a are dropped, and the initial gap with them"

AUDITED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("simfbo/theorem-1", _keys("stepsizes", "constants"), _SAME_CONDITIONS),
    ("simfbo/theorem-1-order", _keys("theorem-1"), _ORDER),
    ("simfbo/theorem-2-order", _keys("theorem-2"), _ORDER),
    ("simfbo/lemma-7", _keys("lemma-4", "lemma-6"), _BY_VECTORS),
    ("simfbo/lemma-8", _keys("lemma-2", "lemma-5"), _BY_VECTORS),
    ("simfbo/lemma-9", _keys("lemma-5", "lemma-6"), _BY_VECTORS),
    ("simfbo/lemma-10", _keys("lemma-3", "lemma-4"), _BY_VECTORS),
    (
        "simfbo/lyapunov",
        _keys("lemma-7", "lemma-8-simplified", "lemma-9", "lemma-10", "stepsizes"),
        "does not follow: at random admissible points the tests find the mean direction's coefficient positive",
    ),
)
