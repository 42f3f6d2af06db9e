"""A theorem about gradient descent, and the same with a fifth of its right side, which is wrong."""

import sympy as sp

from bounds.statement import Assumption, Claim, Condition, Metric, Over, Relation, Source, Statement
from bounds.symbols import COMMON, Vocabulary

own = Vocabulary(COMMON)
L, F_0, T, n, gamma_u, G_u = (own[name].symbol for name in ("L", "F_0", "T", "n", "gamma_u", "G_u"))
average = Metric(
    latex=r"\frac1T\sum_t\|\nabla f(u^t)\|^2",
    weights={G_u: sp.Integer(1)},
    over=Over.MEAN_OF_ROUNDS,
    trivial=2 * L * F_0,
)


def about_descent(name: str, factor: sp.Rational) -> Statement:
    """The mean squared gradient is at most factor * F_0 / (gamma_u * T)."""
    return Statement(
        key=f"mine/{name}",
        title="Gradient descent",
        source=Source(paper="My paper", number="Theorem 1", location="Section 1"),
        vocabulary=own,
        algorithm="fedavg",
        assumptions=(Assumption.SMOOTHNESS, Assumption.FULL_PARTICIPATION, Assumption.NO_PERSONAL),
        claims=(
            Claim(name="main", metric=average, relation=Relation.AT_MOST, terms={"gap": factor * F_0 / (gamma_u * T)}),
        ),
        conditions=(Condition(name="step size", left=gamma_u, operator="<=", right=1 / L),),
        step_rules=(),
        step_products=(),
        settings={"K": sp.Integer(1), "m": n, "sigma_u": sp.Integer(0), "eta_u": sp.Integer(1)},
        follows_from=(),
        remark="",
    )


descent = about_descent("descent", sp.Integer(2))
wrong = about_descent("wrong", sp.Rational(2, 5))
