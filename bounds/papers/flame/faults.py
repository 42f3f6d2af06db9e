"""Faults of the steps that the audit refutes, and the charitable reading of each."""

from __future__ import annotations

from bounds.ledger.fault import Fault, hidden_assumption, misprint, missing_term, wrong_term

_UNBIASED, _BIASED, _LEMMA_1 = "flame/theorem-2-unbiased", "flame/theorem-2-biased", "flame/lemma-1"

FAULTS: tuple[Fault, ...] = (
    wrong_term(
        steps=(
            "flame/lemma-1-24",
            "flame/lemma-1-25",
            "flame/theorem-2-unbiased-40",
            "flame/theorem-2-biased-17",
            "flame/lemma-1-41",
            "flame/theorem-2-unbiased-23",
            "flame/theorem-2-biased-9",
        ),
        wrong="The conditions of Lemma 1 and Theorem 2 are too weak: (38) uses Proposition 3 with a multiple of q = "
        "(1/rho^2 - 1)*lambda^2*alpha_i^2 - (L*alpha_i + rho)/2 for k > 0, and they do not make q positive. Where "
        "q < 0 the Lagrangian can grow, and (16), (19) and (20) fail with exact inner solutions, for one client of "
        "weight 1.",
        meant="q > 0 as a further condition of Lemma 1 and Theorem 2. It needs rho < 1 and leaves only a narrow range "
        "of lambda*alpha_i/rho beside the printed condition; other Young parameters in (36) and (38) allow every "
        "lambda > L with a large enough rho.",
        changes=(_UNBIASED, _BIASED, _LEMMA_1),
    ),
    wrong_term(
        steps=(
            "flame/lemma-1-26",
            "flame/lemma-1-31",
            "flame/theorem-2-unbiased-21",
            "flame/theorem-2-unbiased-33",
            "flame/theorem-2-biased-14",
        ),
        wrong="Young's inequality in (38) gives eps_i/(4*q), not alpha_i^2*eps_i/q, because the eps_i of (13) contains "
        "alpha_i^2. For alpha_i < 1/2 the inner error in (16) and c_0 is too small; and q < 0, which no condition "
        "excludes, makes it negative.",
        meant="With eps_i a bound of ||grad f_i + lambda*(theta_i - w_i)||^2, without alpha_i, the printed c_0 is "
        "enough (q > 0, alpha_i <= 1). With (13) as printed c_0 is max_i 1/(4*q_i); (19) and (20) fail with the "
        "printed one at four equal clients with q > 0.",
        changes=(_UNBIASED, _BIASED, _LEMMA_1),
    ),
    wrong_term(
        steps=("flame/theorem-2-biased-3", "flame/theorem-2-biased-2"),
        wrong="(18) takes the least skew over all theta', apart from the selection: it is at most 1 for every "
        "strategy, and 0 for Algorithm 1 with c > s, where (20) divides by it.",
        meant="The skew at the run's own steps, with which (54) begins: its least value over the rounds serves (20) as "
        "well, and it is at least 1 where the selected clients are those that move most.",
        changes=(_BIASED,),
    ),
    misprint(
        steps=("flame/theorem-2-unbiased-29",),
        wrong="||grad L(P^t)||^2 has no expectation on the left of (50), (19) and (20), but L^0 - L^{t+1} has one on "
        "the right: P^t depends on the selections before round t.",
        meant="(49) is meant given P^t, and the mean over the earlier selections is taken on both sides when it is "
        "summed; for s = m the selection is not random.",
        changes=(_UNBIASED, _BIASED),
    ),
    wrong_term(
        steps=("flame/theorem-2-unbiased-4", "flame/theorem-2-unbiased-6", "flame/theorem-2-unbiased-19"),
        wrong="(42) doubles lambda^2 ||dtheta||^2 and not ||grad f_i(theta_i^t) - grad f_i(theta_i^{t+1})||^2: it "
        "gives 2*L^2 + 2*lambda^2, or (L + lambda)^2, for L^2 + 2*lambda^2.",
        meant="(42) holds from first to last where lambda >= 2*L, which Proposition 1 asks for nonconvex f. c_2 can "
        "stay as printed where lambda >= L, which q > 0 implies: its term 2*rho^2 covers what is missing, as rho >= "
        "lambda*alpha_i.",
    ),
    hidden_assumption(
        steps=(
            "flame/theorem-2-unbiased-7",
            "flame/theorem-2-unbiased-14",
            "flame/theorem-2-unbiased-20",
            "flame/theorem-2-biased-4",
        ),
        wrong="(42)-(45) and (52) bound the gradients of all clients by steps of round t + 1, but clients outside S^t "
        "keep theta_i, w_i and pi_i, so that (10), (11) and (13) do not hold for them.",
        meant="theta_i^{t+1} and w_i^{t+1} stand for the steps that client i would make if it were selected, and eps_i "
        "for its residual there; with these (47) is right too, and Theorem 2 keeps its form.",
    ),
    hidden_assumption(
        steps=("flame/lemma-3-6",),
        wrong="Assumption 1 alone does not give (6) a minimum: where the f_i are unbounded below F^* can be -infinity, "
        "and (51) bounds nothing.",
        meant="That the minimum exists is understood in F^* = min and in problems (5)-(7); f_i bounded below is "
        "enough. (19) and (20) themselves do not need it.",
    ),
    hidden_assumption(
        steps=("flame/theorem-2-unbiased-32",),
        wrong="The term c_3*eps_max of (19) does not depend on T, so that the bound does not vanish with rate 1/T "
        "where the inner problems are solved to a fixed accuracy.",
        meant="The rate up to the inner accuracy, or with eps_max of order 1/T: then H grows with log(T), as said "
        "below (13).",
        headline=True,
    ),
    hidden_assumption(
        steps=("flame/theorem-2-biased-7",),
        wrong="(17) compares plain means of ||dtheta_i||^2, but the first inequality of (54) uses it for sums with "
        "each client's own coefficient, which differ with alpha_i.",
        meant="Equal weights alpha_i = 1/m, as in all experiments. For unequal ones c_1 in place of the coefficients "
        "is enough for (55), so that (20) keeps its constants.",
    ),
    missing_term(
        steps=("flame/theorem-1-1",),
        wrong="The g_i of Algorithm 1 lacks the factor alpha_i of grad_theta_i L_i, which is the mean of alpha_i*g_i.",
        meant="With equal weights, as in all experiments, the s largest ||g_i|| are those of the same clients.",
    ),
    misprint(
        steps=("flame/theorem-2-unbiased-28",),
        wrong="The sum over t < T of L^t - L^{t+1} is L^0 - L^T; (19), (20), (50) and (57) have L^0 - L^{t+1}.",
        meant="L^T, which is L^{t+1} after the last round t = T - 1; (51) holds with it.",
    ),
    misprint(
        steps=("flame/theorem-2-unbiased-1", "flame/theorem-2-unbiased-2"),
        wrong="(41) has -pi_i for +pi_i in the gradient by w, and its norm is not squared.",
        meant="||sum_i rho*(w_i - w) + pi_i||^2, which is 0 by (12), and 0 is what (45) uses.",
    ),
    misprint(
        steps=("flame/theorem-2-unbiased-11", "flame/theorem-2-unbiased-12"),
        wrong="In the fourth line of (43) the norm of pi_i^{t+1} - pi_i^t is not squared.",
        meant="The square: the last line of (43) and (44) follow from it.",
    ),
    misprint(
        steps=("flame/lemma-1-29", "flame/lemma-1-30"),
        wrong="The middle line of (39) has alpha_i*eps_i/q.",
        meant="alpha_i^2*eps_i/q, as the lines before and after it have.",
    ),
    misprint(
        steps=("flame/theorem-2-biased-12",),
        wrong="(56) and (57) have ||grad L(P^t)||^2, of which (52) bounds the part by theta_i alone.",
        meant="||grad L(Theta^t)||^2, as (20) and (52) have.",
    ),
    misprint(
        steps=("flame/proposition-1-1",),
        wrong="The norm in (3) is not squared.",
        meant="lambda/2 ||theta - w||^2, as in (2) and (5).",
    ),
    misprint(
        steps=("flame/proposition-1-2",),
        wrong="With lambda/2 in (2), F approaches f as lambda becomes larger, not smaller.",
        meant="The sentence fits the form with 1/(2*lambda); Section 4.1 has the limits the right way round.",
    ),
    misprint(
        steps=("flame/lemma-1-1",),
        wrong="Algorithm 1 keeps theta_i^{t,H-1}, the result of H - 1 inner steps, where H are made.",
        meant="theta_i^{t,H}: the inner loop ends with it, and H is the number of inner steps.",
    ),
)
