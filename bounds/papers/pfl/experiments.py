"""The settings of the experiments of the pfl paper (Section 5).

The text gives one setting, of which the figures vary one number each; the varied values stand in the figures' legends
only, and are not here. Neither outer step sizes nor L, T, sigma_u, b or F_0 are printed.
"""

from bounds.ledger.experiment import Experiment, exact

EXPERIMENTS = (
    Experiment(
        place="Section 5, Figs. 1a-1c",
        algorithms=("fedavg-p",),
        values=exact(n=10, m=9, K=25, gamma="0.001"),
        remark="gamma, m and K are varied one at a time, to values that the text does not print",
    ),
    Experiment(
        place="Section 5, Fig. 1d",
        algorithms=("fedavg-p",),
        values=exact(n=10, m=10, gamma="0.001"),
        remark="full participation; K is varied, to values that the text does not print",
    ),
    Experiment(
        place="Section 5, Figs. 2a-2c",
        algorithms=("scaffold-p",),
        values=exact(n=10, m=9, K=25, gamma="0.001"),
        remark="gamma, m and K are varied one at a time, to values that the text does not print",
    ),
)
