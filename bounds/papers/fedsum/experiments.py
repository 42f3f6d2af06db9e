"""The settings of the experiments of the FedSUM paper (Section 5, Appendix H).

Neither the delays tau_max and tau_avg of the runs nor L, sigma and the gaps are printed. Figs. 9 and 14 repeat no
numbers.
"""

from bounds.ledger.experiment import Experiment, exact

EXPERIMENTS = (
    Experiment(
        place="Section 5, Fig. 1; Appendix H.2, Table 2",
        algorithms=("fedsum", "fedsum-cr"),
        values=exact(N=100, K=10, T=2000, eta_g=1),
        varying={"eta_l": "0.01/sqrt(t/10 + 1)"},
        remark="participation P1, P2 and P3 with S = 20; grid search on FedAvg",
    ),
    Experiment(
        place="Appendix H.4, Fig. 10",
        algorithms=("fedsum",),
        values=exact(N=100, K=10, T=2000, eta_g=1, eta_l="0.01"),
        remark="independent participation with probabilities that the text does not print; N, K, T of Table 2",
    ),
    Experiment(
        place="Appendix H.5, Fig. 11",
        algorithms=("fedsum-b", "fedsum", "fedsum-cr"),
        values=exact(N=100, K=10, T=2000, eta_g=1, eta_l="0.1"),
        remark="N, K, T and eta_g of Table 2 and of Appendix H.2",
    ),
    Experiment(
        place="Appendix H.6, CIFAR-10",
        algorithms=("fedsum",),
        values=exact(N=50, S=10, K=10, eta_g=1, eta_l="0.01"),
        remark="10 clients at random in every round",
    ),
    Experiment(
        place="Appendix H.6, CIFAR-100",
        algorithms=("fedsum",),
        values=exact(N=50, S=10, K=10, eta_g=1, eta_l="0.001"),
        remark="10 clients at random in every round",
    ),
    Experiment(
        place="Appendix H.7, Fig. 13",
        algorithms=("fedsum", "fedsum-cr"),
        values=exact(N=8, S=2, K=3, T=4000, eta_g=1, eta_l="0.0001"),
        remark="2 clients at random in every round; FedSUM-CR does not converge, as the paper says",
    ),
)
