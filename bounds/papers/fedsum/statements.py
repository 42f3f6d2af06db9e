"""Statements of "FedSUM Family: Efficient Federated Learning Methods under Arbitrary Client Participation".

You and Pu; the algorithms FedSUM-B (Appendix C), FedSUM (D) and FedSUM-CR (E). Problem (1) is f(x) = (1/N) sum_i
f_i(x). Numbers are the paper's. sigma is the square root of what the paper writes squared, and ``eta`` = eta_g*eta_l.
Where a statement ``repairs`` another the remark says what was wrong in the printed form.

With M = max{1, tau_max} the repaired Lemmas D.4 and E.4 are proved like the printed ones, but for three things. Between
two participations of a client lie up to tau_max + 1 <= 2M rounds, which sum_k k^2 <= K^3/3 makes up for. In its first
participation, which counts for at most tau_max + 1 rounds, a client has h_i = 0: the first norm of eq. (48) then has
four parts, one of them k*grad f_i(x^0), so that 8*eta_l^2*K^3*(tau_max + 1)*F_0/(3*N) joins the drift. Times 3*N*K*L^2,
and 8/7 for solving eq. (59), where eta_l^2*K^2*L^2 <= 1/(100*M), that is below K^2*F_0/5. In E.4 each y^(q) is counted
in at most tau_max + 1 rounds, as in D.4, which is what eq. (94) says and eq. (95) does not.
"""

from __future__ import annotations

from bounds.papers.fedsum import appendix_c, appendix_d_e, appendix_f_g, theorems
from bounds.papers.fedsum.symbols import TITLE, VOCABULARY
from bounds.statement import Statement

STATEMENTS: tuple[Statement, ...] = (
    *theorems.STATEMENTS,
    *appendix_c.STATEMENTS,
    *appendix_d_e.STATEMENTS,
    *appendix_f_g.STATEMENTS,
)

LEFT_OUT: tuple[tuple[str, str], ...] = (
    (
        "Lemma B.2",
        "a fact about a_{i,t} alone, min_i a_{i,k+tau_max} >= k for k + tau_max <= T; it has no bound to evaluate",
    ),
    (
        "eq. (98)",
        "the end of the proof of Lemma E.4, with tau_max^2 where the lemma has tau_max; no statement of its own",
    ),
    ("Table 1", "orders of Corollary G.1, with logarithms dropped; `ratecheck tables` compares the two"),
)

__all__ = ["LEFT_OUT", "STATEMENTS", "TITLE", "VOCABULARY"]
