"""Ledger of the PFL paper: FedAvg-P and Scaffold-P.

`lemmas` and `theorems` are Section 3, `scaffold` is Section 4, and Appendix A is in `appendix` (Lemmas A.1 to A.3, 3.1
and 3.6), `control` (Lemmas 4.1 and 4.3) and `staleness` (Lemma 4.4). `runs` has the small exact instances, `terms` the
constructors of steps.
"""

from __future__ import annotations

from bounds.ledger.reading import read
from bounds.ledger.step import Step
from bounds.papers.pfl.proofs import appendix, control, lemmas, scaffold, staleness, theorems
from bounds.papers.pfl.readings import READINGS

STEPS: tuple[Step, ...] = read(
    (*lemmas.STEPS, *theorems.STEPS, *scaffold.STEPS, *appendix.STEPS, *control.STEPS, *staleness.STEPS), READINGS
)
