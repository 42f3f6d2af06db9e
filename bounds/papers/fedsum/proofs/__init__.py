"""The proofs of the FedSUM paper: Sections 2 to 4 and Appendices B to G, eqs. (3)-(113), step by step in printed order.

The plain forms of the formulas are followed where the LaTeX has lost a leading digit ("0" for "10", "50" for "150",
"4" for "24"). Rounds are 0 ... T-1 and tau_max is the largest delay in them; the paper takes it over 0 ... T, which is
the same if everybody takes part in round T, so that a counterexample here is one there. Where a printed sum runs to T,
the participation of round T is given too and its delay counts.
"""

from __future__ import annotations

from bounds.ledger.reading import read
from bounds.ledger.step import Step
from bounds.papers.fedsum.proofs import b, c, d, e, f, g, main
from bounds.papers.fedsum.readings import READINGS

STEPS: tuple[Step, ...] = read((*main.STEPS, *b.STEPS, *c.STEPS, *d.STEPS, *e.STEPS, *f.STEPS, *g.STEPS), READINGS)
