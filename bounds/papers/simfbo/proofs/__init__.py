"""The proofs of SimFBO and ShroFBO, one module per section of the appendix, in printed order."""

from bounds.ledger.reading import read
from bounds.ledger.step import Step
from bounds.papers.simfbo.proofs import (
    algorithm,
    besides,
    descent,
    lemma_7,
    lemma_8,
    lemma_9,
    lemma_10,
    lemmas_1_to_3,
    lemmas_4_to_6,
    lyapunov,
    rates,
    shrofbo,
    whole_runs,
)
from bounds.papers.simfbo.readings import READINGS

STEPS: tuple[Step, ...] = read(
    (
        *algorithm.STEPS,
        *lemmas_1_to_3.STEPS,
        *lemmas_4_to_6.STEPS,
        *lemma_7.STEPS,
        *lemma_8.STEPS,
        *lemma_9.STEPS,
        *lemma_10.STEPS,
        *besides.STEPS,
        *lyapunov.STEPS,
        *descent.STEPS,
        *rates.STEPS,
        *shrofbo.STEPS,
        *whole_runs.STEPS,
    ),
    READINGS,
)
