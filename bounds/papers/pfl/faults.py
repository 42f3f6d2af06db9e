"""Faults of the steps that the audit refutes, and the charitable reading of each."""

from __future__ import annotations

from bounds.assumption import Assumption
from bounds.ledger.fault import Fault, edge_case, hidden_assumption, misprint, wrong_term

FAULTS: tuple[Fault, ...] = (
    misprint(
        steps=("pfl/theorem-3.11-2",),
        wrong="B^0, which is in the condition on eta_u, is printed with the gradient of f for that of f_i: it would be"
        " n*||grad_u f||^2, which does not see how the clients differ.",
        meant="B^t as defined before Lemma 3.5, at t = 0, which is what the proof uses. The printed sum is"
        " small near a stationary point of f, however large the clients' gradients are, and the condition on eta_u is"
        " then weaker than what the proof needs; whether the theorem fails with it was not examined.",
        changes=("pfl/theorem-3.11", "pfl/theorem-3.11-tuned"),
    ),
    misprint(
        steps=("pfl/lemma-a.2-1",),
        wrong="An equality is printed; clients drawn without replacement give it with (n-m)/(m*n*(n-1)), which is"
        " smaller than 2*(n-m)/(m*n^2) for n > 2 and m < n.",
        meant="An upper bound: the proof ends with one, and Lemmas 3.1 and 4.1 use it as one. Nothing else changes.",
        changes=("pfl/lemma-a.2",),
    ),
    wrong_term(
        steps=("pfl/lemma-4.4-2",),
        wrong="u^t is treated as independent of whether client i takes part in round t-1, but it is made from that"
        " round's sample: the two expectations have to be conditional.",
        meant="The sum over clients, eq. (A.10), needs a further 64*L^2*K^2*gamma^2/(m*n)*(C + E)"
        " + 4*K^2*gamma^2*sigma_u^2/m. Eq. (A.14) seems to have slack for it; that Lemma 4.4 and Theorem 4.5 keep every"
        " constant.",
    ),
    wrong_term(
        steps=("pfl/lemma-4.1-12",),
        wrong="sum_ik 1_i*(c - d) is m*K*(c - d), so that its second moment has the factor (m/n)^2 and not"
        " E 1_i = m/n; the two agree for m = n alone.",
        meant="The larger factor is an upper bound, and eq. (A.8) uses no more than the bound m*K*sigma_u^2 at the end"
        " of the line. Lemma 4.1 keeps its constants.",
    ),
    hidden_assumption(
        steps=("pfl/lemma-3.1-5",),
        wrong="The noise of step k has to have mean zero given the earlier steps, but Assumption 2.2 states"
        " independence between clients only.",
        meant="A new independent sample in every step and round, as the indices of xi_{i,k}^t suggest and as is usual."
        " All later lines hold then.",
        assumption=Assumption.NOISE,
    ),
    hidden_assumption(
        steps=("pfl/corollary-3.8-9",),
        wrong="The rate is said to improve with m, but its term m*sigma_v^2/n grows: the root falls from m to m + 1"
        " only where m*(m+1)*sigma_v^2 <= n*(4*K*b^2 + sigma_u^2).",
        meant="Small sigma_v^2, which the end of the remark requires for the linear speedup in m. Or the rate"
        " of G_v alone: n/m times the bound always falls with m. The corollary itself is not concerned.",
        headline=True,
    ),
    edge_case(
        steps=("pfl/lemma-3.6-recursion-3", "pfl/theorem-3.11-8"),
        wrong="kappa = T - 1 has to be positive, and Lemma 3.6 and the proof of Theorem 3.11 divide by T - 1: T = 1 is"
        " not excluded.",
        meant="T >= 2. With a single round there is no earlier one for the recursion, and eq. (3.6) gives Theorem 3.11"
        " without it.",
    ),
    edge_case(
        steps=("pfl/lemma-4.3-3",),
        wrong="The proof divides by K - 1 and does not treat K = 1.",
        meant="As in the proof of Lemma 3.5, which sets K = 1 aside: the drift E is then 0, and Lemma 4.3 is trivial.",
    ),
    edge_case(
        steps=("pfl/lemma-4.4-7",),
        wrong="kappa = m/(2*(n-m)) is not defined with full participation, m = n, which Lemma 4.4 does not exclude.",
        meant="Partial participation. For m = n the factor 1 - m/n is 0, and the display that kappa is chosen for is"
        " not needed.",
    ),
    misprint(
        steps=("pfl/lemma-3.4-1",),
        wrong="T_3u is not 0 with full participation: it measures how the clients' local gradients differ, whichever"
        " of them take part.",
        meant="The term of eq. (3.2) that contains T_3u is 0, since its coefficient has the factor n - m. So says"
        " Lemma 3.1, which is referred to, and eq. (3.5) needs no more.",
    ),
    misprint(
        steps=("pfl/theorem-4.5-9", "pfl/theorem-4.5-12"),
        wrong="The hat of hat G_v = (m/n)*G_v is missing in eq. (4.5) and in the display before the end of the proof;"
        " for m < n neither follows without it.",
        meant="hat G_v, as in the inequality that is averaged, in the sum of C and in Theorem 4.5.",
    ),
    misprint(
        steps=("pfl/lemma-3.5-8", "pfl/lemma-4.3-13"),
        wrong="The drift of v_i has ||u_ik - u_i^t|| on the right, where u_i^t is the client's last iterate of an"
        " earlier round.",
        meant="u^t, at which the local steps begin: eq. (3.3) and eq. (A.9) combine the line with that of u_ik to E_ik,"
        " which has u^t.",
    ),
    misprint(
        steps=("pfl/lemma-4.1-2",),
        wrong="c_i^t is written with the samples of round t-1, but line 10 of Algorithm 4.1 changes c_i only in rounds"
        " in which client i takes part.",
        meant="The samples of the client's last round before t, remembered like alpha and beta. The bounds on W_ik and"
        " hat W_ik hold for these.",
    ),
    misprint(
        steps=("pfl/lemma-4.1-9",),
        wrong="The norms on the left of both lines of eq. (A.7) are not squared, the right sides are second moments.",
        meant="Squared norms, to which eq. (A.8) applies both lines.",
    ),
    misprint(
        steps=("pfl/lemma-4.3-2",),
        wrong="An equality is printed although sigma_u^2 only bounds the variance of the stochastic gradient.",
        meant="<=, as in the same line of the proof of Lemma 3.5.",
    ),
    misprint(
        steps=("pfl/lemma-4.3-17",),
        wrong="The sum of K powers, r <= K - 1, is bounded by (K-1)/2*(1 + 2/(K-1))^(K-1), which holds for the sum of"
        " K - 1 powers.",
        meant="The chain in the proof of Lemma 3.5, from the sum up to k - 1 to the power K - 1. The next line uses"
        " only that the sum is at most 4*K, which is true of K powers too.",
    ),
    misprint(
        steps=("pfl/lemma-4.3-19",),
        wrong="The norm of the personal gradient is not squared in the bound on E_ik.",
        meant="Its square, as one line before and in eq. (A.9); summed over i it gives n*G_v in Lemma 4.3.",
    ),
    misprint(
        steps=("pfl/lemma-4.4-4",),
        wrong="The inner product of u^t - u^{t-1} and alpha_ik^{t-2} - u^{t-1} has the sign plus; the square of the"
        " difference has minus.",
        meant="Minus. Young's inequality in the next line bounds the product with either sign.",
    ),
    misprint(
        steps=("pfl/lemma-4.4-10",),
        wrong="The right side has beta_ik^{t-1}, which round t-1 itself has renewed where the client took part.",
        meant="beta_ik^{t-2}, as alpha_ik^{t-2} in the display before; C^{t-1} in eq. (A.10) is made of these two.",
    ),
    misprint(
        steps=("pfl/lemma-3.1-10",),
        wrong="The order of the pairs has i = j in both of its cases, so that pairs of different clients have none.",
        meant="(i, k) < (j, l) if i < j, or i = j and k < l: the sigma-algebra F_{i,k} contains the samples of the"
        " clients j <= i - 1.",
    ),
)
