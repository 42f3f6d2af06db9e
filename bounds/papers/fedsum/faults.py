"""Faults of the steps that the audit refutes, and the charitable reading of each."""

from __future__ import annotations

from bounds.ledger.fault import Fault, edge_case, hidden_assumption, misprint, missing_term, wrong_term
from bounds.ledger.implication import numbered

FAULTS: tuple[Fault, ...] = (
    hidden_assumption(
        steps=("fedsum/theorem-4.1-5", "fedsum/lemma-b.1-5", "fedsum/lemma-c.5-1", "fedsum/lemma-d.5-1"),
        wrong="The participation may be random and part of the history; Lemma B.1 and eqs. (24) and (63) need it to be"
        " independent of the gradients' noise, which is not stated.",
        meant="E is the expectation over the stochastic gradients, as the notation of Section 1 has it, with the"
        " sequence S_t given beforehand, as Appendix B may be read. The bounds then stand for every sequence that is"
        " fixed, or drawn independently of the noise. What fails otherwise is the bound given the sequence; for the"
        " mean over it, Corollary 4.1, no counterexample is known.",
        changes=("fedsum/theorem-4.1", "fedsum/corollary-4.1", "fedsum/theorem-g.1", "fedsum/lemma-b.1"),
    ),
    edge_case(
        steps=("fedsum/corollary-g.1-case-2-4",),
        wrong="For N = T = 1 the right side is log(1/delta) times a constant, as log(NT) = 0: it is 0 at delta = 1, and"
        " too small for delta near 1.",
        meant="N T >= 2. The printed bound then follows from Theorem G.1 with max{1, tau_max}, as the tail sum of Lemma"
        " F.2 bounds E max{1, tau_max} as well.",
        changes=("fedsum/corollary-g.1-case-2",),
    ),
    edge_case(
        steps=("fedsum/corollary-g.1-case-1-3",),
        wrong="Case 1 of Section 2.1 admits S = N; with S = N = T = 1 the right side is 0, as log(NT) = 0.",
        meant="S < N of Lemma F.1 is meant and not repeated. With it, and for S = N with N T >= 2, no"
        " counterexample to the printed bound is known.",
        changes=("fedsum/corollary-g.1-case-1",),
    ),
    wrong_term(
        steps=("fedsum/lemma-e.6-12",),
        wrong="Lemma E.4 and eqs. (96), (98), (105) have tau_max in the drift's noise, eq. (105) also N for 1/N; eq."
        " (107) has neither and does not follow from eq. (105).",
        meant="The drift's noise has no tau_max in eq. (95) and in Lemma D.4, and needs none: Lemma E.4 holds without"
        " it where tau_max >= 1. Eq. (107), Lemma E.6 and Theorem E.1 then keep their constants.",
        changes=("fedsum/lemma-e.4",),
    ),
    missing_term(
        steps=(
            "fedsum/appendix-d-1",
            "fedsum/lemma-d.4-12",
            "fedsum/lemma-d.4-40",
            "fedsum/appendix-e-1",
            "fedsum/lemma-e.4-12",
            "fedsum/lemma-e.4-40",
        ),
        wrong="Eqs. (40) and (78) take h_i of a client's first round for a gradient at x^(0); by eq. (8) it is 0, so"
        " that eqs. (49), (59), (85), (95) lack a term with F_0.",
        meant="The lines are about clients that have taken part before. For the others a term of order eta_l^2 K^3"
        " tau_max F_0/N is added; with weights 3, 6, 2 in eqs. (44) and (80) the lemmas hold with their constants"
        " where tau_max >= 1.",
    ),
    wrong_term(
        steps=(*numbered("fedsum/lemma-d.4", 21, 22, 23, 30, 38), *numbered("fedsum/lemma-e.4", 21, 22, 23, 30, 38)),
        wrong="Two successive participations of a client are up to tau_max + 1 rounds apart, not tau_max: every second"
        " round has tau_max = 1. Windows and multiplicities are counted with tau_max.",
        meant="tau_max + 1 in place of tau_max, as Lemma B.2 has it. tau_max + 1 <= 2 tau_max where tau_max >= 1, and"
        " the constants of eqs. (60) and (96) and of both lemmas have slack for that.",
    ),
    wrong_term(
        steps=("fedsum/lemma-d.4-28", "fedsum/lemma-e.4-28"),
        wrong="The window t = p ... p + 2 tau_max of eqs. (54) and (90) has 2 tau_max + 1 rounds and is counted as 2"
        " tau_max.",
        meant="The inner sum of eq. (52) ends at a_{i,t} - 1. Kept so in eqs. (53) and (54), it leaves windows of 2"
        " tau_max rounds. The constants of the lemmas have slack either way.",
    ),
    wrong_term(
        steps=("fedsum/lemma-d.6-6", "fedsum/lemma-e.6-6"),
        wrong="Lemmas D.1 and E.1 give 1 - 2 eta_g eta_l K L; eqs. (71) and (103) have 1 - eta_g eta_l K L, which is"
        " kept up to eqs. (74) and (106).",
        meant="With the 2 of eq. (32) the last value of eqs. (74) and (106) is 3/50 in place of 4/25, still positive;"
        " Lemmas D.6 and E.6 are not affected.",
    ),
    edge_case(
        steps=("fedsum/theorem-4.1-2",),
        wrong="If everybody takes part in every round, tau_max over the rounds 0 ... T-1, as Appendix F has it, is 0,"
        " and eta_g = 1/sqrt(tau_max) has no value.",
        meant="Section 2.2 includes t = T, and S_T is not part of the sequence: then tau_max >= 1 and nothing is"
        " missing. For tau_max over the rounds played, max{1, tau_max} does in the step sizes and in the 1/T"
        " terms.",
    ),
    edge_case(
        steps=("fedsum/lemma-f.2-3",),
        wrong="For delta = 1 the probability of absence p is 0, and log_p has no value.",
        meant="delta < 1 in the proof. For delta = 1 everybody takes part in every round and the lemma is trivial.",
    ),
    edge_case(
        steps=("fedsum/lemma-f.2-11",),
        wrong="2 <= (2/delta) max{ln(NT), ln(1/delta)} is used in effect, whose right side is near 0 for N = T = 1 and"
        " delta near 1.",
        meant="N T >= 2 in the last inequality. For N = T = 1 the lemma holds, as E tau_max = 1 - p_1 <= 1 - delta.",
    ),
    misprint(
        steps=("fedsum/lemma-c.4-22",),
        wrong="Both sums run to T, a round that is not played, whereas tau_avg is a mean over t < T: the noise of round"
        " T is not paid for.",
        meant="T - 1 in both sums, as in the proof, on the left of eq. (23), and where eq. (33) uses the lemma. The T"
        " on the right of eq. (23), of Lemma C.5 and of eq. (27) is the same misprint; there it does no harm.",
        changes=("fedsum/lemma-c.4",),
    ),
    misprint(
        steps=("fedsum/corollary-g.1-case-2-2", "fedsum/corollary-g.1-case-2-1"),
        wrong="The maximum of the logarithms stands beside the root of the noise term; Lemma F.2, put in for the delay,"
        " leaves it under the root.",
        meant="Under the root, where Case 1 has its logarithm. For N T >= 3 the maximum exceeds 1, so that the printed"
        " bound is the weaker one and true.",
    ),
    misprint(
        steps=("fedsum/lemma-e.4-51", "fedsum/lemma-e.6-9"),
        wrong="Eqs. (95), (96), (98) and (106) have tau_max^2 with the drift's gradients, which the cap on eta_l does"
        " not control; the lemma has tau_max.",
        meant="tau_max, as in eq. (94), in Lemma E.4 and in eq. (105); eq. (106) then reads as eq. (74).",
    ),
    misprint(
        steps=("fedsum/lemma-c.6-12",),
        wrong="2 (eta_g eta_l)^3 tau_max tau_avg K^2 T sigma^2 L^2/N <= (eta_g eta_l)^2 K T sigma^2 L/N lacks max{1,"
        " tau_avg} on the right; at the cap it fails for tau_avg > 4.",
        meant="With max{1, tau_avg}, which the noise term of eq. (35) has; the corresponding line before eq. (75) has"
        " it on both sides. Eq. (35) keeps its 5.",
    ),
    misprint(
        steps=("fedsum/corollary-g.1-case-1-1", "fedsum/corollary-g.1-case-3-1"),
        wrong="The bounds are said to come from Theorem 4.1 and Corollary 4.1, whose 1 + E[tau_avg] gives more than 60"
        " in the noise terms of Cases 1 and 3.",
        meant="Theorem G.1 is meant, which stands just before: its max{1, tau_avg} gives the printed 60.",
    ),
    misprint(
        steps=("fedsum/lemma-f.3-1", "fedsum/lemma-f.3-2"),
        wrong="Unless S divides N, an epoch that cycles through all clients has more than floor(N/S) rounds, and two"
        " selections may be more than 2 floor(N/S) apart.",
        meant="ceil(N/S) rounds, or S divides N: the last step to 4 N/S has just the slack that 2 ceil(N/S) needs. The"
        " lemma stands.",
    ),
    misprint(
        steps=("fedsum/lemma-f.3-5", "fedsum/lemma-f.4-4"),
        wrong="Section 2.1 calls deterministic cyclic participation Case 3 and reshuffled cyclic participation Case 4;"
        " Lemmas F.3 and F.4 and Corollary G.1 number them the other way round.",
        meant="The names: Lemma F.3 and Case 3 of Corollary G.1 are about reshuffled participation, Lemma F.4 and Case"
        " 4 about deterministic participation. The bounds are unaffected, and those of Corollary G.1 are the same.",
        changes=("fedsum/corollary-g.1-case-3", "fedsum/corollary-g.1-case-4", "fedsum/lemma-f.3", "fedsum/lemma-f.4"),
    ),
    misprint(
        steps=("fedsum/lemma-f.1-3", "fedsum/lemma-f.1-5"),
        wrong="The lemma draws S_t for t = 0 ... T, which are T + 1 rounds; the union bound and the tail sum of eq."
        " (109) count T rounds.",
        meant="t = 0 ... T - 1, as in Algorithms 1 to 3. The lemma's bound is not refuted for T + 1 rounds either.",
    ),
    misprint(
        steps=("fedsum/theorem-e.1-5",),
        wrong="The last term starts from 150 eta_l^2 N K sigma^2 L^2, N^2 times that of eq. (108), and the entries of"
        " the minimum for eta_l are divided by N.",
        meant="The line is right for a local step size eta_l/N; for eta_l, the same line of Theorem D.1 has the right"
        " form. The value 15 is that of both.",
    ),
    misprint(
        steps=("fedsum/lemma-e.6-8",),
        wrong="Eq. (105) has 3 with the noise of third order in the step sizes, where 8/2 = 4 results from Lemma E.4.",
        meant="4, as in eq. (73) and in the line after eq. (106).",
    ),
    misprint(
        steps=("fedsum/lemma-d.4-44", "fedsum/lemma-e.4-44"),
        wrong="The left side of the line before eqs. (62) and (98) has L^2 L^4 and no 1/N^2: two powers of L too many.",
        meant="3 N K L^2 times the second term of eqs. (60) and (96), which has L^2/N^2; the printed L^4 is the"
        " product.",
    ),
    misprint(
        steps=("fedsum/lemma-d.6-5", "fedsum/lemma-e.6-5"),
        wrong="After summing over t = 0 ... T - 1, two sums of eqs. (70) and (102) run to T; up to eqs. (73) and (105)"
        " the sum of the gradients keeps the T.",
        meant="T - 1 in all sums, as in eq. (31). The sum with T is dropped later, so that nothing else changes.",
    ),
    misprint(
        steps=("fedsum/lemma-c.6-13",),
        wrong="The sum of E||grad f(x^(t))||^2 in eq. (35) runs to T, in eq. (34) to T - 1.",
        meant="T - 1, as in eqs. (34) and (36).",
    ),
    misprint(
        steps=("fedsum/lemma-c.2-3", "fedsum/lemma-d.2-3"),
        wrong="With p from min{0, t - tau_max} on, the window consists of all rounds before t.",
        meant="max{0, t - tau_max}, as in eqs. (53) and (89); a round -1 contributes nothing. The next line exchanges"
        " the sums for this window.",
    ),
    misprint(
        steps=("fedsum/algorithms-7",),
        wrong="Eq. (9) sums over j in A_t; a client whose first round is t has no gradient of a round a_{j,t-1} >= 0.",
        meant="j in A_{t-1} without i, as in eq. (41).",
    ),
    misprint(
        steps=("fedsum/delays-3",),
        wrong="A_t is defined as the union of S_t over j <= t, in which j does not occur.",
        meant="The union of S_j over j <= t; all later lines use A_t so.",
    ),
    misprint(
        steps=("fedsum/lemma-d.4-35",),
        wrong="Eq. (58) writes y^(a-1), a = a_{i,t}, with gradients of the rounds a_{j,a}; client i itself takes part"
        " in round a.",
        meant="The rounds a_{j,a-1}, by eq. (39) at a - 1.",
    ),
    misprint(
        steps=("fedsum/lemma-d.4-31", "fedsum/lemma-e.4-31"),
        wrong="a_{i,a_{i,t}+1} = a_{i,t} fails if client i takes part in rounds t and t + 1.",
        meant="The participation next after a_{i,a_{i,t}-1} is a_{i,t}: this is true, and it is what the sum before"
        " uses.",
    ),
    misprint(
        steps=("fedsum/lemma-c.1-2",),
        wrong="The last norm of eq. (15) lacks its square.",
        meant="Squared, as in eq. (16).",
    ),
    misprint(
        steps=("fedsum/lemma-d.5-8",),
        wrong="The noise of a window is set equal to tau_t times the sum over its rounds; Jensen gives <=.",
        meant="<=, as in the same display of Lemma C.5.",
    ),
    misprint(
        steps=("fedsum/lemma-c.6-9",),
        wrong="The first > of the line after eq. (34) is an equality where the cap is attained, at eta_g eta_l K = 1/(8"
        " tau_max L).",
        meant=">=, as in eq. (74); only the positive sign at the end is used.",
    ),
)
