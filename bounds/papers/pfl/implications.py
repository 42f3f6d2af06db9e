"""Implications of "Sharper Convergence Guarantees ... with Partial Model Personalization"."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from bounds import symbols as s
from bounds.ledger.implication import Fact, Implication, Summed, Use, numbered
from bounds.symbols import K, L, T, gamma, m, n, sigma_u, sigma_v

ONE, ZERO = sp.Integer(1), sp.Integer(0)
BEFORE = {s.G_u: s.G_u_prev, s.G_v: s.G_v_prev, s.B: s.B_prev, s.C: s.C_prev}
AFTER = {before: now for now, before in BEFORE.items()}
SHARED_ONLY = {sigma_v: ZERO, s.G_v: ZERO}
PERSONAL_ONLY = {K: ONE, m: n, sigma_u: ZERO, s.b: ZERO, s.G_u: ZERO}


def _by_parts(
    location: str, *, variance: int, spread: sp.Symbol, steps: tuple[tuple[str, ...], ...], personal: Fact
) -> tuple[Fact | Use, ...]:
    """Lemma A.3's four terms: two are T_1u and T_1v in the mean, two second moments split into mean and noise.

    ``steps`` show the three facts of ``location``.
    """
    inner_u, inner_v, moved = steps
    noise = variance * K * gamma**2 * sigma_u**2 / m
    return (
        Fact(location=location, quantity=s.inner_u, bound=s.T_1u, steps=inner_u),
        Fact(location=location, quantity=s.inner_v, bound=s.T_1v, steps=inner_v),
        Fact(location=location, quantity=s.du2, bound=2 * s.sampled2 + noise, steps=moved),
        Use(key="pfl/lemma-a.2-repaired"),
        Fact(location="definition of T_2u", quantity=s.xbar2, bound=s.T_2u, by_definition=True),
        Fact(location=f"definition of {spread}", quantity=s.spread, bound=gamma**2 * spread, by_definition=True),
        personal,
    )


_PERSONAL_STEP = Fact(
    location="eq. (A.4)",
    quantity=s.dv2,
    bound=2 * s.T_2v + 2 * K * gamma**2 * sigma_v**2 * m / n,
    steps=numbered("pfl/lemma-3.1", 15, 16),
)
# The same on the runs of Scaffold-P.
_PERSONAL_STEP_SCAFFOLD = replace(_PERSONAL_STEP, steps=("pfl/lemma-4.1-21", "pfl/lemma-3.1-16"))
_FIRST_LEMMAS = (Use(key="pfl/lemma-3.2"), Use(key="pfl/lemma-3.3"))


def _from(conclusion: str, premise: str, location: str, at: dict | None = None, remark: str = "") -> Implication:
    """A conclusion that is its premise at its own step sizes, or a special case of it."""
    return Implication(
        conclusion=f"pfl/{conclusion}", start=Use(key=f"pfl/{premise}", at=at or {}), location=location, remark=remark
    )


IMPLICATIONS: tuple[Implication, ...] = (
    Implication(
        conclusion="pfl/lemma-3.1",
        start=Use(key="pfl/lemma-a.3"),
        steps=_by_parts(
            "eqs. (A.2), (A.3)",
            variance=2,
            spread=s.T_3u,
            steps=(numbered("pfl/lemma-3.1", 7), numbered("pfl/lemma-3.1", 9), numbered("pfl/lemma-3.1", 11, 13)),
            personal=_PERSONAL_STEP,
        ),
        location="Appendix A, proof of Lemma 3.1",
    ),
    Implication(
        conclusion="pfl/lemma-3.5",
        start=Fact(
            location="fourth display",
            quantity=s.E,
            bound=8 * K**2 * (K - 1) * (s.gamma_u**2 * s.B + s.gamma_v**2 * n * s.G_v)
            + 4 * n * K**2 * (s.gamma_u**2 * sigma_u**2 + s.gamma_v**2 * sigma_v**2),
            steps=numbered("pfl/lemma-3.5", *range(2, 18)),
        ),
        location="Section 3.2.1, proof of Lemma 3.5",
    ),
    Implication(
        conclusion="pfl/lemma-3.6-recursion",
        claim="recursion",
        start=Fact(
            location="eq. (A.6)",
            quantity=s.B,
            bound=(1 + 1 / (T - 1)) * s.B_prev + 2 * T * L**2 * n * (s.du2 + s.dv2),
            steps=numbered("pfl/lemma-3.6-recursion", 14),
        ),
        steps=(
            Fact(
                location="eq. (A.3)",
                quantity=s.du2,
                bound=2 * s.T_2u + 2 * K * gamma**2 * sigma_u**2 / n,
                steps=numbered("pfl/lemma-3.1", *range(11, 15)),
            ),
            _PERSONAL_STEP,
            Use(key="pfl/lemma-3.3", at=BEFORE),
            Use(key="pfl/lemma-3.5", at=BEFORE),
        ),
        location="Appendix A, proof of Lemma 3.6",
    ),
    Implication(
        conclusion="pfl/theorem-3.7",
        start=Use(key="pfl/lemma-3.1"),
        steps=(*_FIRST_LEMMAS, Use(key="pfl/lemma-3.4"), Use(key="pfl/lemma-3.5"), Use(key="pfl/lemma-3.6")),
        telescoped=s.F_0,
        location="Section 3.2.2, proof of Theorem 3.7",
    ),
    _from("corollary-3.8", "theorem-3.7", "Section 3.2.2"),
    _from("fedavg-partial", "corollary-3.8", "Section 3.2.3", SHARED_ONLY),
    _from("parallel-sgd", "corollary-3.8", "Section 3.2.3", PERSONAL_ONLY),
    Implication(
        conclusion="pfl/theorem-3.11",
        start=Use(key="pfl/lemma-3.1"),
        steps=(
            *_FIRST_LEMMAS,
            Use(key="pfl/lemma-3.5"),
            Summed(key="pfl/lemma-3.6-recursion", previous=s.B_prev, start=s.B_0, rounds_back=AFTER),
        ),
        telescoped=s.F_0,
        location="Section 3.3.1, proof of Theorem 3.11",
        remark="The paper bounds exp(2) by 8 on the way.",
    ),
    _from("theorem-3.11-tuned", "theorem-3.11", "Section 3.3.1"),
    _from("fedavg-full", "theorem-3.11-tuned", "Section 3.3.2", SHARED_ONLY),
    Implication(
        conclusion="pfl/lemma-4.1",
        start=Use(key="pfl/lemma-a.3"),
        steps=_by_parts(
            "eqs. (A.2), (A.8)",
            variance=18,
            spread=s.S_3u,
            steps=(
                numbered("pfl/lemma-4.1", 6),
                numbered("pfl/lemma-4.1", 7),
                numbered("pfl/lemma-4.1", 15, 23, 19, 20),
            ),
            personal=_PERSONAL_STEP_SCAFFOLD,
        ),
        location="Appendix A, proof of Lemma 4.1",
    ),
    Implication(
        conclusion="pfl/lemma-4.3",
        start=Fact(
            location="last display",
            quantity=s.E,
            bound=96 * L**2 * K**2 * s.gamma_u**2 * s.C
            + 24 * n * K**3 * s.gamma_u**2 * s.G_u
            + 8 * n * K**3 * s.gamma_v**2 * s.G_v
            + 52 * n * K**2 * (s.gamma_u**2 * sigma_u**2 + s.gamma_v**2 * sigma_v**2),
            # From two local steps on; with one the drift is 0. The sum of powers is the one that the lines use.
            steps=(*numbered("pfl/lemma-3.5", 2), *numbered("pfl/lemma-4.3", 2, *range(4, 17), *range(18, 21))),
        ),
        location="Appendix A, proof of Lemma 4.3",
    ),
    Implication(
        conclusion="pfl/lemma-4.4",
        start=Fact(
            location="eq. (A.10)",
            quantity=s.C,
            bound=(1 - m / (2 * n)) * s.C_prev
            + 2 * n * K * (s.du2 + s.dv2)
            + 2 * m / n * s.E
            + 2 * n**2 * K / m * (s.T_2u + s.T_2v),
            steps=numbered("pfl/lemma-4.4", *range(2, 15)),
        ),
        steps=(
            Fact(
                location="eq. (A.8)",
                quantity=s.du2,
                bound=2 * s.T_2u + 4 * gamma**2 * (n - m) / (m * n**2) * s.S_3u + 18 * K * gamma**2 * sigma_u**2 / m,
                steps=numbered("pfl/lemma-4.1", 20),
            ),
            _PERSONAL_STEP_SCAFFOLD,
            Use(key="pfl/lemma-3.3", at=BEFORE),
            Use(key="pfl/lemma-4.2", at=BEFORE),
            Use(key="pfl/lemma-4.3", at=BEFORE),
        ),
        location="Appendix A, proof of Lemma 4.4",
    ),
    Implication(
        conclusion="pfl/theorem-4.5",
        start=Use(key="pfl/lemma-4.1"),
        steps=(
            *_FIRST_LEMMAS,
            Use(key="pfl/lemma-4.2"),
            Use(key="pfl/lemma-4.3"),
            Summed(key="pfl/lemma-4.4", previous=s.C_prev, start=ZERO, rounds_back=AFTER),
        ),
        telescoped=s.F_0,
        location="Section 4.3, proof of Theorem 4.5",
        remark="The staleness is 0 in round 0: every client starts with its control variates at u^0, v^0.",
    ),
    _from("corollary-4.6", "theorem-4.5", "Section 4.3"),
    _from("scaffold-explicit", "corollary-4.6", "Section 4.3.1", SHARED_ONLY),
    _from("scaffold", "scaffold-explicit", "Section 4.3.1"),
    _from(
        "scaffold-prior",
        "scaffold",
        "Section 4.3.1, after eq. (4.7)",
        remark="The comparison that the paper makes: its order is at most the one known before, term by term.",
    ),
    _from("parallel-sgd-scaffold", "corollary-4.6", "Section 4.3.1", PERSONAL_ONLY),
)

AUDITED: tuple[tuple[str, tuple[str, ...], str], ...] = ()
