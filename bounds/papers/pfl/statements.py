"""Statements of "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization".

Chen, Cao, Yuan and Wen; the algorithms FedAvg-P and Scaffold-P. Problem (1.1) is
f(u, v) = (1/n) sum_i f_i(u, v_i) with a shared variable u and personal variables v_i. Numbers are the paper's.
The values sigma_u, sigma_v and b are the square roots of what the paper writes squared, and
gamma = gamma_u*eta_u = gamma_v*eta_v (Section 2.1).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bounds.papers.paper import Paper
from bounds.statement import Assumption, Claim, Over, Relation, Statement, StepProduct
from bounds.symbols import COMMON, eta_u, eta_v, gamma, gamma_u, gamma_v

VOCABULARY = COMMON
TITLE = "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization"
PAPER = Paper(
    name="pfl",
    title=TITLE,
    vocabulary=VOCABULARY,
    formulas={
        "NOISE": "sigma_u**2/m + m*sigma_v**2/n",
        "FULL_NOISE": "sigma_u**2/n + sigma_v**2",
        # Symbols before the bracket: SymPy multiplies a number into a sum at once, 4*(n - m) -> -4*m + 4*n.
        "SAMPLING": "4*K*b**2*(n - m)/(m*n)",
        "SCAFFOLD_CAP": "min(m/n**(2/3), 1)/(72*L*K)",
        "SCAFFOLD_FACTOR": "max(1, n**(2/3)/m)",
    },
)
claim = PAPER.claim
_vectors = partial(claim, over=Over.NO_RUN)
_after_first = partial(claim, over=Over.EVERY_ROUND_BUT_FIRST)

SMOOTH = Assumption.SMOOTHNESS
STOCHASTIC = (SMOOTH, Assumption.NOISE, Assumption.UNIFORM_SAMPLING)
DISSIMILAR = (*STOCHASTIC, Assumption.DISSIMILARITY)
FULL = (SMOOTH, Assumption.NOISE, Assumption.FULL_PARTICIPATION)

# The assumption under which a product has nothing to multiply, and the product.
PRODUCTS = {
    Assumption.NO_SHARED: StepProduct(product=gamma, local=gamma_u, outer=eta_u),
    Assumption.NO_PERSONAL: StepProduct(product=gamma, local=gamma_v, outer=eta_v),
}


def _averaged(left: str, latex: str, trivial: str) -> partial[Claim]:
    latex = rf"\frac1T\sum_{{t=0}}^{{T-1}}{latex}"
    return partial(claim, left, over=Over.MEAN_OF_ROUNDS, latex=latex, trivial=trivial)


# What smoothness alone gives: G_u + w*G_v <= 2L(1+w)F at every point. The blockwise Lipschitz constants give
# inf f <= f(u+du, v+dv) <= f + <g_u,du> + (1/n) sum <g_i,dv_i> + (L/2n) sum (|du|+|dv_i|)^2; take du = -g_u/(L(1+w))
# and dv_i = -w*g_i/(L(1+w)). It is attained (n=1, f = L(u+v)^2/2), so no smaller number would do.
# Table 1: the hatted average counts a personal gradient at the rate m/n at which its variable is updated.
SAMPLED_GRADIENTS = _averaged(
    "G_u + m/n*G_v", r"\left(\mathcal{G}_u^t+\hat{\mathcal{G}}_{\mathbf{v}}^t\right)", "2*L*(1 + m/n)*F_0"
)
ALL_GRADIENTS = _averaged("G_u + G_v", r"\left(\mathcal{G}_u^t+\mathcal{G}_{\mathbf{v}}^t\right)", "4*L*F_0")
SHARED_GRADIENT = _averaged("G_u", r"\mathbb{E}\|\nabla f(u^t)\|^2", "2*L*F_0")
PERSONAL_GRADIENTS = _averaged("G_v", r"\frac1n\sum_i\mathbb{E}\|\nabla f_i(v_i^t)\|^2", "2*L*F_0")

_OUTER_U = {"eta_u": ">= sqrt(m)"}
_OUTER = {**_OUTER_U, "eta_v": ">= sqrt(n/m)"}
_FULL_OUTER_U = {"eta_u": ">= max(T, sqrt(B_0*T/(n*L*F_0)), sqrt(n))"}
_FULL_OUTER = {**_FULL_OUTER_U, "eta_v": ">= 1"}
_SAMPLED_MEAN = {"mean": "xbar2", "sampling": "2*spread*(n - m)/(m*n**2)"}


def _statement(
    key: str,
    title: str,
    number: str,
    location: str,
    *claims: Claim,
    algorithm: str | None,
    assumptions: tuple[Assumption, ...],
    **fields: Any,
) -> Statement:
    """A statement with the products of the step sizes that its algorithm has."""
    products = tuple(product for block, product in PRODUCTS.items() if algorithm and block not in assumptions)
    return PAPER.statement(
        key,
        title,
        number,
        location,
        *claims,
        algorithm=algorithm,
        assumptions=assumptions,
        step_products=products,
        **fields,
    )


_fedavg_p = partial(_statement, algorithm="fedavg-p")
_scaffold_p = partial(_statement, algorithm="scaffold-p")

STATEMENTS: tuple[Statement, ...] = (
    _fedavg_p(
        "lemma-3.1",
        "Change of f over one round of FedAvg-P",
        "Lemma 3.1",
        "Section 3.2.1, eq. (3.2)",
        claim(
            "descent",
            {
                "descent": "T_1u + T_1v",
                "second moment": "2*L*(T_2u + T_2v)",
                "sampling": "4*L*gamma**2*(n - m)/(m*n**2)*T_3u",
                "noise": "2*L*K*sigma_u**2*gamma**2/m + 2*L*K*sigma_v**2*gamma**2*m/n",
            },
        ),
        assumptions=STOCHASTIC,
        follows_from=("lemma-a.2", "lemma-a.3"),
    ),
    _fedavg_p(
        "lemma-3.2",
        "First-order terms",
        "Lemma 3.2",
        "Section 3.2.1",
        claim("T_1u", {"gradient": "-K*gamma/2*G_u", "drift": "L**2*gamma/n*E"}, name="T_1u"),
        claim("T_1v", {"gradient": "-K*gamma*m/(2*n)*G_v", "drift": "L**2*gamma*m/n**2*E"}, name="T_1v"),
        assumptions=(SMOOTH,),
    ),
    _fedavg_p(
        "lemma-3.3",
        "Second-order terms",
        "Lemma 3.3",
        "Section 3.2.1",
        claim("T_2u", {"gradient": "2*K**2*gamma**2*G_u", "drift": "4*L**2*K*gamma**2/n*E"}, name="T_2u"),
        claim("T_2v", {"gradient": "2*K**2*gamma**2*m/n*G_v", "drift": "4*L**2*K*gamma**2*m/n**2*E"}, name="T_2v"),
        assumptions=(SMOOTH,),
    ),
    _fedavg_p(
        "lemma-3.4",
        "Variance due to sampling clients",
        "Lemma 3.4",
        "Section 3.2.1",
        claim("T_3u", {"dissimilarity": "3*n*K**2*b**2", "drift": "12*L**2*K*E"}),
        assumptions=(SMOOTH, Assumption.DISSIMILARITY),
    ),
    _fedavg_p(
        "lemma-3.5",
        "Drift of the local steps of FedAvg-P",
        "Lemma 3.5",
        "Section 3.2.1",
        claim(
            "E",
            {
                "shared gradients": "8*K**2*(K - 1)*gamma_u**2*B",
                "personal gradients": "8*n*K**3*gamma_v**2*G_v",
                "noise": "4*n*K**2*(sigma_u**2*gamma_u**2 + sigma_v**2*gamma_v**2)",
            },
        ),
        assumptions=(SMOOTH, Assumption.NOISE),
        conditions={"local step sizes": "4*L**2*K*(K - 1)*(gamma_u**2 + gamma_v**2) <= 1"},
    ),
    _fedavg_p(
        "lemma-3.6",
        "Size of the clients' shared gradients",
        "Lemma 3.6",
        "Section 3.2.1",
        claim("B", {"gradient": "n*G_u", "dissimilarity": "n*b**2"}, name="dissimilarity"),
        assumptions=(SMOOTH, Assumption.NOISE, Assumption.DISSIMILARITY),
        remark="The second part of the lemma, which needs no dissimilarity bound, is pfl/lemma-3.6-recursion.",
    ),
    _fedavg_p(
        "lemma-3.6-recursion",
        "Growth of the clients' shared gradients with full participation",
        "Lemma 3.6, second part, the recursion",
        "Section 3.2.1",
        _after_first(
            "B",
            {
                "previous": "(1 + 2/(T - 1))*B_prev",
                "gradients": "2*n*T*(G_u_prev + G_v_prev)",
                "noise": "2*n*T/K*(sigma_u**2/n + sigma_v**2)",
            },
            name="recursion",
        ),
        assumptions=FULL,
        conditions={"rounds": "T >= 2", "gamma": "gamma <= 1/(8*L*K)"},
        step_rules={"eta_u": ">= max(T, sqrt(n))", "eta_v": ">= 1"},
        settings={"m": "n"},
        follows_from=("lemma-3.3", "lemma-3.5"),
        remark="T >= 2 is not printed; the factor 1 + 2/(T-1) needs it.",
    ),
    _fedavg_p(
        "theorem-3.7",
        "FedAvg-P, partial participation",
        "Theorem 3.7",
        "Section 3.2.2",
        SAMPLED_GRADIENTS(
            {
                "initial gap": "4*F_0/(T*K*gamma)",
                "dissimilarity": "12*L*SAMPLING*gamma",
                "noise": "12*L*NOISE*gamma",
                "drift": "128*L**2*K*(K - 1)*b**2/eta_u**2*gamma**2",
            }
        ),
        assumptions=DISSIMILAR,
        conditions={"gamma": "gamma <= 1/(32*L*K)"},
        step_rules=_OUTER,
        follows_from=("lemma-3.1", "lemma-3.2", "lemma-3.3", "lemma-3.4", "lemma-3.5", "lemma-3.6"),
    ),
    _fedavg_p(
        "corollary-3.8",
        "FedAvg-P, partial participation, tuned",
        "Corollary 3.8",
        "Section 3.2.2",
        SAMPLED_GRADIENTS(
            {"noise and dissimilarity": "8*sqrt(3*(SAMPLING + NOISE)*L*F_0/(K*T))", "1/T": "129*L*F_0/T"}
        ),
        assumptions=DISSIMILAR,
        step_rules={
            "gamma": "1/(32*L*K + sqrt(3*L*K*T/F_0*(SAMPLING + NOISE)))",
            "eta_v": ">= sqrt(n/m)",
            "eta_u": ">= max(sqrt(m), sqrt(b**2*T/(L*F_0)))",
        },
        follows_from=("theorem-3.7",),
    ),
    _statement(
        "fedavg-partial",
        "FedAvg, partial participation",
        "Section 3.2.3, first display",
        "Section 3.2.3",
        SHARED_GRADIENT(
            {"noise and dissimilarity": "8*sqrt(3*(SAMPLING + sigma_u**2/m)*L*F_0/(K*T))", "1/T": "129*L*F_0/T"}
        ),
        algorithm="fedavg",
        assumptions=(*DISSIMILAR, Assumption.NO_PERSONAL),
        step_rules={
            "gamma": "1/(32*L*K + sqrt(3*L*K*T/F_0*(SAMPLING + sigma_u**2/m)))",
            "eta_u": ">= max(sqrt(m), sqrt(b**2*T/(L*F_0)))",
        },
        follows_from=("corollary-3.8",),
        remark="The step sizes are those of Corollary 3.8 at sigma_v = 0; the display itself does not repeat them.",
    ),
    _statement(
        "parallel-sgd",
        "Parallel SGD, fully personal",
        "Section 3.2.3, second display",
        "Section 3.2.3",
        PERSONAL_GRADIENTS({"noise": "8*sqrt(3*sigma_v**2*L*F_0/T)", "1/T": "129*L*F_0/T"}),
        algorithm="parallel-sgd",
        assumptions=(*FULL, Assumption.NO_SHARED),
        step_rules={"gamma": "1/(32*L + sqrt(3*L*T/F_0*sigma_v**2))", "eta_v": ">= 1"},
        settings={"m": "n", "K": 1},
        follows_from=("corollary-3.8",),
        remark="The step sizes are those of Corollary 3.8 at K = 1, m = n, sigma_u = 0; the display does not repeat "
        "them.",
    ),
    _fedavg_p(
        "theorem-3.11",
        "FedAvg-P, full participation",
        "Theorem 3.11, first part",
        "Section 3.3.1",
        ALL_GRADIENTS({"initial gap": "4*F_0/(T*K*gamma)", "noise": "44*L*FULL_NOISE*gamma", "1/T": "L*F_0/T"}),
        assumptions=FULL,
        conditions={"gamma": "gamma <= 1/(84*L*K)"},
        step_rules=_FULL_OUTER,
        settings={"m": "n"},
        follows_from=("lemma-3.1", "lemma-3.2", "lemma-3.3", "lemma-3.5", "lemma-3.6-recursion"),
        remark="B^0 is printed with the gradient of f where that of f_i is meant, as in B^t before Lemma 3.5.",
    ),
    _fedavg_p(
        "theorem-3.11-tuned",
        "FedAvg-P, full participation, tuned",
        "Theorem 3.11, second part",
        "Section 3.3.1",
        ALL_GRADIENTS({"noise": "8*sqrt(11*L*F_0/(K*T)*FULL_NOISE)", "1/T": "337*L*F_0/T"}),
        assumptions=FULL,
        step_rules={"gamma": "1/(84*L*K + sqrt(11*L*K*T/F_0*FULL_NOISE))", **_FULL_OUTER},
        settings={"m": "n"},
        follows_from=("theorem-3.11",),
    ),
    _statement(
        "fedavg-full",
        "FedAvg, full participation",
        "Section 3.3.2",
        "Section 3.3.2",
        SHARED_GRADIENT({"noise": "8*sqrt(11*sigma_u**2*L*F_0/(n*K*T))", "1/T": "337*L*F_0/T"}),
        algorithm="fedavg",
        assumptions=(*FULL, Assumption.NO_PERSONAL),
        step_rules={"gamma": "1/(84*L*K + sqrt(11*L*K*T/F_0*sigma_u**2/n))", **_FULL_OUTER_U},
        settings={"m": "n"},
        follows_from=("theorem-3.11-tuned",),
        remark="The step sizes are those of Theorem 3.11 at sigma_v = 0; the display itself does not repeat them.",
    ),
    _scaffold_p(
        "lemma-4.1",
        "Change of f over one round of Scaffold-P",
        "Lemma 4.1",
        "Section 4.2.1, eq. (4.2)",
        claim(
            "descent",
            {
                "descent": "T_1u + T_1v",
                "second moment": "2*L*(T_2u + T_2v)",
                "sampling": "4*L*gamma**2*(n - m)/(m*n**2)*S_3u",
                "noise": "18*L*K*sigma_u**2*gamma**2/m + 2*L*K*sigma_v**2*gamma**2*m/n",
            },
        ),
        assumptions=STOCHASTIC,
        follows_from=("lemma-a.2", "lemma-a.3"),
    ),
    _scaffold_p(
        "lemma-4.2",
        "Variance due to sampling clients, with control variates",
        "Lemma 4.2",
        "Section 4.2.1",
        claim("S_3u", {"staleness": "16*L**2*K*C", "drift": "16*L**2*K*E"}),
        assumptions=(SMOOTH,),
    ),
    _scaffold_p(
        "lemma-4.3",
        "Drift of the local steps of Scaffold-P",
        "Lemma 4.3",
        "Section 4.2.1",
        claim(
            "E",
            {
                "staleness": "96*L**2*K**2*gamma_u**2*C",
                "shared gradient": "24*n*K**3*gamma_u**2*G_u",
                "personal gradients": "8*n*K**3*gamma_v**2*G_v",
                "noise": "52*n*K**2*(sigma_u**2*gamma_u**2 + sigma_v**2*gamma_v**2)",
            },
        ),
        assumptions=(SMOOTH, Assumption.NOISE),
        conditions={"local step sizes": "12*L**2*K*(K - 1)*(gamma_u**2 + gamma_v**2) <= 1"},
        remark="The proof divides by K - 1: at K = 1 there is no drift, which the proof of Lemma 3.5 says.",
    ),
    _scaffold_p(
        "lemma-4.4",
        "Decay of the staleness",
        "Lemma 4.4",
        "Section 4.2.1, eq. (4.3)",
        _after_first(
            "C",
            {
                "previous": "(1 - m/(4*n))*C_prev",
                "gradients": "m*n**(2/3)*K/(36*L**2)*(G_u_prev + m/n*G_v_prev)",
                "noise": "m**2/(18*L**2)*NOISE",
            },
        ),
        assumptions=STOCHASTIC,
        conditions={"gamma": "gamma <= SCAFFOLD_CAP"},
        step_rules=_OUTER,
        follows_from=("lemma-3.3", "lemma-4.2", "lemma-4.3"),
        remark="u^t depends on whether client i took part in round t-1, so the expectations on the right of the "
        "proof's first display have to be given that it did not, or did. No counterexample to the lemma itself is "
        "known.",
    ),
    _scaffold_p(
        "theorem-4.5",
        "Scaffold-P, partial participation",
        "Theorem 4.5",
        "Section 4.3",
        SAMPLED_GRADIENTS({"initial gap": "4*F_0/(T*K*gamma)", "noise": "148*NOISE*L*gamma"}),
        assumptions=STOCHASTIC,
        conditions={"gamma": "gamma <= SCAFFOLD_CAP"},
        step_rules=_OUTER,
        follows_from=("lemma-3.2", "lemma-3.3", "lemma-4.1", "lemma-4.2", "lemma-4.3", "lemma-4.4"),
        remark="Eq. (4.5) and the sum of C in the proof print G_v where (m/n)*G_v is meant, as in the theorem.",
    ),
    _scaffold_p(
        "corollary-4.6",
        "Scaffold-P, partial participation, tuned",
        "Corollary 4.6",
        "Section 4.3",
        SAMPLED_GRADIENTS({"noise": "8*sqrt(37*L*F_0/(K*T)*NOISE)", "1/T": "288*L*F_0/T*SCAFFOLD_FACTOR"}),
        assumptions=STOCHASTIC,
        step_rules={"gamma": "1/(72*L*K*SCAFFOLD_FACTOR + sqrt(37*L*K*T/F_0*NOISE))", **_OUTER},
        follows_from=("theorem-4.5",),
    ),
    _statement(
        "scaffold",
        "SCAFFOLD, as recovered from Scaffold-P",
        "eq. (4.6)",
        "Section 4.3.1",
        SHARED_GRADIENT({"noise": "sqrt(sigma_u**2/(m*K*T))", "1/T": "SCAFFOLD_FACTOR/T"}, relation=Relation.ORDER),
        algorithm="scaffold",
        assumptions=(*STOCHASTIC, Assumption.NO_PERSONAL),
        follows_from=("corollary-4.6",),
        remark="The paper prints O(...); pfl/scaffold-explicit has the constants that Corollary 4.6 gives.",
    ),
    _statement(
        "scaffold-explicit",
        "SCAFFOLD, with the constants of Corollary 4.6",
        "Corollary 4.6 at sigma_v = 0",
        "Section 4.3.1",
        SHARED_GRADIENT({"noise": "8*sqrt(37*L*F_0/(K*T)*sigma_u**2/m)", "1/T": "288*L*F_0/T*SCAFFOLD_FACTOR"}),
        algorithm="scaffold",
        assumptions=(*STOCHASTIC, Assumption.NO_PERSONAL),
        step_rules={"gamma": "1/(72*L*K*SCAFFOLD_FACTOR + sqrt(37*L*K*T/F_0*sigma_u**2/m))", **_OUTER_U},
        follows_from=("corollary-4.6",),
        remark="Not printed as such: the case that eq. (4.6) is the order of.",
    ),
    _statement(
        "scaffold-prior",
        "SCAFFOLD, best rate known before",
        "eq. (4.7)",
        "Section 4.3.1",
        SHARED_GRADIENT({"noise": "sqrt(sigma_u**2/(m*K*T))", "1/T": "(n/m)**(2/3)/T"}, relation=Relation.ORDER),
        algorithm="scaffold",
        assumptions=(*STOCHASTIC, Assumption.NO_PERSONAL),
        remark="Quoted from Karimireddy et al. (2020), known up to a constant.",
    ),
    _statement(
        "parallel-sgd-scaffold",
        "Parallel SGD, fully personal, by way of Scaffold-P",
        "Section 4.3.1, last paragraph",
        "Section 4.3.1",
        PERSONAL_GRADIENTS({"noise": "8*sqrt(37*L*F_0/T*sigma_v**2)", "1/T": "288*L*F_0/T"}),
        algorithm="parallel-sgd",
        assumptions=(*FULL, Assumption.NO_SHARED),
        step_rules={"gamma": "1/(72*L + sqrt(37*L*T/F_0*sigma_v**2))", "eta_v": ">= 1"},
        settings={"m": "n", "K": 1},
        follows_from=("corollary-4.6",),
        remark="The paper says that Corollary 4.6 covers this case without printing it: K = 1, m = n, sigma_u = 0.",
    ),
    _statement(
        "lemma-a.1",
        "Second moment of the sum of a martingale difference sequence",
        "Lemma A.1",
        "Appendix A",
        _vectors("sum2", {"squares": "squares"}, relation=Relation.EQUAL),
        algorithm=None,
        assumptions=(Assumption.MARTINGALE,),
    ),
    _statement(
        "lemma-a.2",
        "Second moment of the mean of a sample",
        "Lemma A.2",
        "Appendix A",
        _vectors("sampled2", _SAMPLED_MEAN, relation=Relation.EQUAL),
        algorithm=None,
        assumptions=(Assumption.INDEPENDENT_SAMPLING,),
        remark='Printed with "=", but the proof ends with 1/(n-1) <= 2/n, so only "<=" follows; '
        "equality has the factor (n-m)/(m*n*(n-1)). The form with <= is pfl/lemma-a.2-repaired.",
    ),
    _statement(
        "lemma-a.2-repaired",
        "Second moment of the mean of a sample",
        "Lemma A.2, repaired",
        "Appendix A",
        _vectors("sampled2", _SAMPLED_MEAN),
        algorithm=None,
        assumptions=(Assumption.INDEPENDENT_SAMPLING,),
        repairs="lemma-a.2",
        remark='pfl/lemma-a.2 with "<=", which is what its proof gives and what its uses need.',
    ),
    _fedavg_p(
        "lemma-a.3",
        "Change of f over one round, by smoothness alone",
        "Lemma A.3",
        "Appendix A, eq. (A.1)",
        claim("descent", {"first order": "inner_u + inner_v", "second order": "L*du2 + L*dv2"}),
        assumptions=(SMOOTH,),
    ),
)

# Every numbered statement is in the catalogue.
LEFT_OUT: tuple[tuple[str, str], ...] = ()
