"""The file that ``ratecheck new theorem`` writes: a theorem that holds, and what may stand where."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

_TEXT = '''\
"""A theorem of my own; for example: ratecheck verify {file}:{name}"""

from bounds.theorem import theorem

# Formulas are text such as "2*F_0/(gamma_u*T)". Symbols: n, m, K, T (clients, participants, local steps, rounds),
# L, F_0, b, sigma_u, sigma_v, B_0, and step sizes gamma_u, gamma_v, eta_u, eta_v, gamma (docs/reference.md has all).
# With vocabulary="textbook" also gap, dist2, dist2_0 (to the minimiser), mu, mu_PL, b_star, G, t (the round).
# A name that is unknown is answered with those that are known.
{name} = theorem(
    title="Gradient descent",
    source="My paper, Theorem 1",
{methods}
    algorithm="fedavg",
    # Such as smoothness, convexity, strong_convexity, polyak_lojasiewicz, noise, dissimilarity, uniform_sampling,
    # full_participation, no_personal (docs/own.md has more).
    assumptions=["smoothness", "full_participation", "no_personal"],
    # A weighted sum of what a run records. G_u is E||grad f||^2; others: G_v, B, E, descent, du2, inner_u.
    left="G_u",
    # mean_of_rounds, every_round, every_round_but_first, last_round, best_round, averaged_iterate, whole_run or no_run.
    over="mean_of_rounds",
    # The right side is the sum of these; their names are free.
    right={{"gap": "2*F_0/(gamma_u*T)"}},
    # Comparisons with <=, >=, <, > or ==.
    conditions=["gamma_u <= 1/L"],
    # What the theorem fixes: one local step, every client, no noise, the server takes the mean.
    settings={{"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1}},
    # What smoothness alone gives for the left side: a larger bound is called vacuous. Leave it out if there is none.
    trivial="2*L*F_0",
)
'''
_WIDTH = 116


def template(file: str, name: str, methods: Iterable[str]) -> str:
    """The text of a file called ``file`` that assigns a theorem to ``name``."""
    listed = f"One of {', '.join(methods)}; None for pure algebra."
    comment = textwrap.fill(listed, _WIDTH, initial_indent="    # ", subsequent_indent="    # ", break_on_hyphens=False)
    return _TEXT.format(file=file, name=name, methods=comment)
