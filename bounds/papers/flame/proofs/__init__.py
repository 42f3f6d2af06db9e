"""The proofs of the FLAME paper: Section 3.4 to Appendix D, eqs. (2)-(57), step by step in printed order.

A client has weight alpha, gradients g and g_next of f_i at theta = theta_i^t and theta_next = theta_i^{t+1}, local
models w_i and w_i_next, dual variables pi and pi_next; w and w_next are the server's. Sums over clients are checked
term by term where the paper argues term by term, and for a few clients, or with a symbol for the sum, elsewhere.
"""

from __future__ import annotations

from bounds.ledger.reading import read
from bounds.ledger.step import Step
from bounds.papers.flame.proofs import algorithm, descent, envelope, properties, rate, skew, updates
from bounds.papers.flame.readings import READINGS

STEPS: tuple[Step, ...] = read(
    (*envelope.STEPS, *algorithm.STEPS, *skew.STEPS, *properties.STEPS, *updates.STEPS, *descent.STEPS, *rate.STEPS),
    READINGS,
)
