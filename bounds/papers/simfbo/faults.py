"""Faults of the steps that the audit refutes, and the charitable reading of each."""

from __future__ import annotations

from bounds.ledger.fault import Fault, edge_case, hidden_assumption, misprint, missing_term, wrong_term


def _keys(*names: str) -> tuple[str, ...]:
    return tuple(f"simfbo/{name}" for name in names)


_THEOREMS = ("theorem-1", "theorem-2")
_ORDERS = ("theorem-1-order", "theorem-2-order")

FAULTS: tuple[Fault, ...] = (
    # What Theorems 1 and 2 print in their statements: the order in tau_bar and T, and what they assume.
    missing_term(
        steps=_keys("lemma-8-2", "lemma-8-13", "lemma-8-14", "lemma-8-16", "proposition-3-1"),
        wrong="||sum_{j<k} a_j u_j||^2 is bounded by sum_{j<k} a_j ||u_j||^2 without the factor sum_{j<k} a_j <= "
        "|a_i|_1 <= c_a tau_bar alpha_max; sigma_M1^2 and the drifts lack it.",
        meant="Right for |a_i|_1 <= 1. With the factor the last term of (9) and (10) is O(M_3/T) at the local step "
        "sizes of (38), or stays O(M_3/(tau_bar T)) for local step sizes of order 1/(tau_bar^(3/2) sqrt(T)).",
        changes=_keys(
            *_ORDERS,
            "theorem-1-order-full",
            *_THEOREMS,
            "proposition-3",
            "lemma-8",
            "lemma-8-simplified",
            "constants",
            "stepsizes",
        ),
    ),
    hidden_assumption(
        steps=_keys("theorem-1-27"),
        wrong="Psi(x^0) - Psi(x^T) is taken as bounded; no assumption bounds Phi_w from below, and for f_i(x, y) = x, "
        "g_i = y^2/2 the gradient norm is 1 in every round.",
        meant="Phi and Phi_w are bounded below, as is usual for nonconvex objectives; then the step is right.",
        changes=_keys(*_ORDERS, "theorem-1-order-full", "theorem-1-order-partial", *_THEOREMS),
    ),
    hidden_assumption(
        steps=_keys("theorem-1-12"),
        wrong="The sum of (45) telescopes only for one Phi_w, but w_i = p_i |a_i^(t)|_1/rho^(t) changes with t where "
        "the clients' local work does.",
        meant="The shares |a_i|_1/sum_j p_j |a_j|_1 are the same in every round, as the notation w_i without t "
        "suggests; rho^(t) may still vary. For ShroFBO w_i = p_i, and nothing is missing.",
        changes=_keys("theorem-1-order", "theorem-1"),
    ),
    edge_case(
        steps=_keys("theorem-1-29"),
        wrong="The initial gap of (53) is put into O(M_2/sqrt(P tau_bar T)), but M_2 = 0 without noise and the gap is "
        "not 0.",
        meant="The gap is a constant of the O, which is right for M_2 > 0. With M_2 plus the gap in place of M_2 it "
        "holds for every M_2.",
        changes=_keys(*_ORDERS, "theorem-1-order-full"),
    ),
    # The constants M_1, M_2, M_3 of the theorems and the step sizes under which they hold.
    missing_term(
        steps=_keys("lemma-10-3", "lemma-10-4", "lemma-10-19", "lemma-10-25", "proposition-2-2"),
        wrong="Expectations of products are split into products of expectations, and x^(t+1) is replaced by its mean: "
        "x, y and v use the same sample of clients, so covariances are dropped.",
        meant="Right if x and the pair (y, v) had independent samples of clients and one local step. As it is, the "
        "covariance costs another squared step and L_y^2 or L_v^2 once more, in the constants.",
        changes=_keys(*_THEOREMS, "proposition-2", "lemma-10", "lyapunov", "constants", "stepsizes"),
    ),
    missing_term(
        steps=_keys("lemma-9-1", "lemma-9-15"),
        wrong="The cross term of h_i - h~_i and h~_i in (23) is taken as 0, but h~_i is evaluated along the noisy "
        "local path and depends on the earlier noises of the same client.",
        meant="Right for one local step, where h~_i is fixed. In general the noise counts twice and the average of "
        "Delta once more, which doubles parts of M_2.",
        changes=_keys(*_THEOREMS, "lemma-9", "lyapunov", "constants"),
    ),
    wrong_term(
        steps=_keys("lemma-7-1", "lemma-7-7"),
        wrong="The second-order term of the descent lemma has L_Phi^2/2 where L_Phi-smoothness gives L_Phi/2.",
        meant="Right for L_Phi >= 1, which a larger L_1 always gives; otherwise L_Phi/2, also in M_1, M_2 and (39). "
        "The printed L_Phi^2 has another unit than a curvature.",
        changes=_keys(*_THEOREMS, "lemma-7", "lyapunov", "constants", "stepsizes"),
    ),
    wrong_term(
        steps=_keys("lemma-4-11", "lemma-4-18"),
        wrong="(15) sets the partial derivative of grad_v R in y to 0, but only its total derivative (14) in x "
        "vanishes; L_vx lacks the terms through y*(x).",
        meant="(18) holds for the partial derivative of v*(x, y) = [G_yy]^-1 F_y in x; Lemma 10 needs the Jacobian of "
        "v*(x, y*(x)). A larger L_vx from (14) serves, with the same orders.",
        changes=_keys(*_THEOREMS, "lemma-4", "constants", "stepsizes"),
    ),
    wrong_term(
        steps=_keys("lemma-10-6", "lemma-10-10"),
        wrong="Young's inequality gives L_y^2/delta_t1 and L_v^2/delta_t1', the squared norms of the Jacobians; "
        "printed is 4 L_y/delta_t1 and 4 L_v/delta_t1'.",
        meant="Right for L_y <= 4 and L_v <= 4. In general c_gamma_y >= 64 K_1 L_y^2/mu_g serves in place of 256 K_1 "
        "L_y/mu_g in (38), and likewise c_gamma_v.",
        changes=_keys(*_THEOREMS, "proposition-2", "lemma-10", "stepsizes"),
    ),
    wrong_term(
        steps=_keys("lyapunov-3"),
        wrong="The fifth term of (39), 4/L_Phi^2, is too large: with P > 6 beta_max the coefficient of E||sum_i w_i "
        "h~_x,i||^2, which (41) drops, may be positive.",
        meant="1/(4 L_Phi^2), with the 4 below; then (39) leaves slack for the curvature of y* and v* and the two "
        "Young terms. The other terms of (39) hide the difference unless f and g are scaled by a large number.",
        changes=_keys(*_THEOREMS, "stepsizes"),
    ),
    missing_term(
        steps=_keys("lyapunov-11", "lyapunov-13", "lyapunov-14"),
        wrong="The factors 1 + delta_t and 1 + delta_t' of Lemma 10 are lost in (41) in the parts with 4 L_R^2/mu_g, "
        "sigma_g^2 and sigma_gh^2, and so in (42) to (44), M_1, M_2 and M_3.",
        meant="Other parts of (41) bound these factors by 2; with a 2 here too, K_1 c_gamma_y^2 is doubled in M_1 and "
        "M_2, and 4 L_R^2 becomes 8 L_R^2 in M_3.",
        changes=_keys(*_THEOREMS, "lyapunov", "constants"),
    ),
    missing_term(
        steps=_keys("lemma-9-16", "lemma-9-20"),
        wrong="The error of y in (26) has beta_gh^2, where Lemma 5 gives beta_gh^2 L_1^2; the eighth term of (39) has "
        "it without L_1^2 too.",
        meant="Right for L_1 <= 1. With L_1^2 in Lemma 9 and in (39) the rest of the proof stands.",
        changes=_keys(*_THEOREMS, "lemma-9", "stepsizes"),
    ),
    missing_term(
        steps=_keys("lemma-8-9"),
        wrong="Assumption 4 is used in (20), (b), without its factor beta_gh^2; the drift of y and the bound on eta_y "
        "in (39) lack it.",
        meant="Right for beta_gh = 1. In general the error of y carries beta_gh^2, as in Lemma 5, and eta_y has to be "
        "smaller by beta_gh.",
        changes=_keys(*_THEOREMS, "lemma-8", "lemma-8-simplified", "stepsizes"),
    ),
    missing_term(
        steps=_keys("lemma-10-8"),
        wrong="E||x^(t+1) - x^t||^2 is bounded by Lemma 5, which is about sum_i w_i ||mean gradient||^2: for P < n the "
        "factor beta_max is missing, and the noise.",
        meant="Right for P = n without noise. In general a bound that holds for every sample C, with beta_max^2 in "
        "delta_t, serves; the tenth and eleventh term of (39) get that factor.",
        changes=_keys(*_THEOREMS, "proposition-2", "lemma-10", "stepsizes"),
    ),
    wrong_term(
        steps=_keys("lemma-10-9"),
        wrong="delta_t and delta_t' are defined with half of the term L_yx (r_max^2 L_1^2 + L_f^2)(rho gamma_x)^2 that "
        "(30) has just derived; (39) builds on the half.",
        meant="delta_t without the 1/2. For delta_t1 >= delta_t/2 the tenth and the eleventh term of (39) then need 8 "
        "in place of 4.",
        changes=_keys(*_THEOREMS, "proposition-2", "lemma-10", "stepsizes"),
    ),
    missing_term(
        steps=_keys("lemma-8-1"),
        wrong="The noise and the mean gradients of the local steps are taken as orthogonal in (20), but a later "
        "gradient depends on the earlier noises.",
        meant="Right up to k = 1, that is for two local steps. In general '<=' with a factor 2 on both terms holds.",
        changes=_keys(*_THEOREMS, "proposition-3", "lemma-8", "constants"),
    ),
    missing_term(
        steps=_keys("lemma-8-8"),
        wrong="||a_i||_2^2 is bounded by tau_bar alpha_max^2; with tau_bar the mean of the tau_i, as in Proposition 3 "
        "and (40), a client with more local steps needs c_a tau_bar alpha_max^2.",
        meant="Right for equal tau_i, and with the sum for tau_bar that Appendix B prints. With c_a, as in the terms "
        "beside it, it holds for the mean; sigma_M1^2 and sigma_M2^2 get the c_a too.",
        changes=_keys(*_THEOREMS, "proposition-3", "lemma-8", "constants"),
    ),
    hidden_assumption(
        steps=_keys("lemma-2-3", "lemma-2-4", "lemma-2-5", "lemma-2-6", "lemma-2-7", "proposition-1-1"),
        wrong="(12) takes ||I - eta_v a G_yy|| <= 1 - eta_v a mu_g, which needs eta_v alpha_max L_1 <= 1; neither the "
        "lemma nor (39) bounds eta_v by a constant.",
        meant="eta_v alpha_max L_1 <= 1, which the order of eta_v in (38) meets for large T; then even r bounds every "
        "local v.",
        changes=_keys(*_THEOREMS, "proposition-1", "lemma-2", "stepsizes"),
    ),
    hidden_assumption(
        steps=_keys("lemma-2-2"),
        wrong="(12) bounds sampled Hessians and gradients by mu_g and L_f, but Assumptions 1 and 2 are about the "
        "means; Assumption 3 bounds a variance only.",
        meant="Assumptions 1 and 2 hold for g_i and f_i of every sample; then the step is right.",
        changes=_keys(*_THEOREMS, "proposition-1", "lemma-2"),
    ),
    # What no later constant depends on.
    hidden_assumption(
        steps=_keys("theorem-1-38"),
        wrong="Table 1 and Section 1.1 give O(1/eps) communication rounds and do not say that P = n; the bound (57) "
        "needs O(1/(P eps^2)) rounds for P < n.",
        meant="The entry is for full participation, P = n, for which Theorem 1 states O(1/eps); Theorem 1 itself has "
        "the rounds for P < n right.",
        headline=True,
    ),
    missing_term(
        steps=_keys("lemma-9-21", "lemma-9-22"),
        wrong="grad_v R_i(x, y, v) is compared with its value at (y*, v*), but only the error of v is kept: 3 L_R^2 "
        "E||y - y*||^2 is missing in (28).",
        meant="Right at y = y*. The missing error of y fits into what K_1 in (37) absorbs: (45) needs no new constant.",
        changes=_keys("lemma-9"),
    ),
    hidden_assumption(
        steps=_keys("lemma-8-15"),
        wrong="The drift of y is solved for by division by 1 - 2 eta_y^2 c_a tau_bar alpha_max L_1^2, whose sign the "
        "lemma does not ask for.",
        meant="The condition 4 eta_y^2 c_a tau_bar alpha_max L_1^2 <= 1, which is set right after the lemma.",
        changes=_keys("lemma-8"),
    ),
    hidden_assumption(
        steps=_keys("theorem-2-appendix-5", "theorem-2-appendix-6"),
        wrong="In (59), (b), unequal factors (p_i - w_i)/w_i, whose sizes beta_max' and beta_min alone do not bound, "
        "are drawn out of the norm of a sum as one constant.",
        meant="Right at w_i = p_i, where all factors are 0 and where alone (60) is used; Theorem 2 then follows from "
        "Theorem 1 directly, without the factor.",
    ),
    wrong_term(
        steps=_keys("lemma-10-22"),
        wrong="Lemma 3 bounds a change of (x, y) at a fixed v; used with L_R^2 for a change of (x, y, v) at once it is "
        "short if L_2 r is small, but not 0, against L_1.",
        meant="A joint change is bounded by 2 L_R^2; since Young's inequality in the line before leaves slack for "
        "1/mu_g in place of 2/mu_g, the claim of the lemma keeps its 4 L_R^2/mu_g.",
    ),
    # Misprints.
    misprint(
        steps=_keys("proposition-2-1"),
        wrong="Proposition 2 has L_vx/4 and 2 L_v/delta_t1' where Lemma 10, the same claim with the only proof, has "
        "L_vx/2 and 4 L_v/delta_t1'.",
        meant="The constants of Lemma 10; (37) to (45) use these.",
        changes=_keys("proposition-2"),
    ),
    misprint(
        steps=_keys("theorem-1-8"),
        wrong="tau_bar is sum_i tau_i in Appendix B, and sum_i tau_i/n in Proposition 3 and above (40).",
        meant="The mean: the local steps per client, as the sample complexity tau_bar T counts them.",
    ),
    misprint(
        steps=_keys("theorem-1-2"),
        wrong="(6) sums over all clients with p_i, while q_x in (4) is a sum over the sampled ones with p~_i.",
        meant="The expectation over C, or full participation; Appendix B and the proofs have the sample and its mean.",
    ),
    misprint(
        steps=_keys("theorem-1-5"),
        wrong="The averages h_i and h~_i in Appendix B run from k = 1 to tau_i, where a_i^k ends at k = tau_i - 1.",
        meant="k from 0 to tau_i - 1, as in (4) and in all proofs.",
    ),
    misprint(
        steps=_keys("lemma-8-7"),
        wrong="The second term after (a) of (20) has lost the factor |a_i|_1 and keeps the index j of an inner sum.",
        meant="With |a_i|_1, as in its third term; (b) has the factor again as c_a tau_bar alpha_max.",
    ),
    misprint(
        steps=_keys("lemma-9-7"),
        wrong="In (24) the tilde of h~_i is lost in the squares and products after the third equality.",
        meant="h~_i throughout, as in the first and the last line.",
    ),
    misprint(
        steps=_keys("lemma-10-13", "lemma-10-14"),
        wrong="(34), (a), has the square of grad_y g_i(x, y) - grad_y g_i(x, y*) in place of that of the difference "
        "between the local point and (x, y).",
        meant="The difference along the local steps, which (b) bounds by the drifts.",
    ),
    misprint(
        steps=_keys("lemma-10-15"),
        wrong="(35) has '=' although the inequality (34) is put in.",
        meant="'<=', which is all that (31) needs.",
    ),
    misprint(
        steps=_keys("lyapunov-15"),
        wrong="(41), (a), has '=' although Lemmas 7 to 10, which are inequalities, are put in.",
        meant="'<=', as in (45).",
    ),
    misprint(
        steps=_keys("theorem-1-20"),
        wrong="M_2 below (49) has L_vx/(2F), and F stands for nothing there.",
        meant="L_vx/2, as M_2 has in (40).",
    ),
)
