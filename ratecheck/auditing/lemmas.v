(* Written by ratecheck audit --coq. For Coq 8.16 or later: coqc FILE.v
   Every lemma is a step of a proof: its hypotheses are those that its certificate uses. Claims are about points where
   denominators are not 0. x_root stands for a root of x; a vector stands for any one of its coordinates, over which
   both sides are summed. *)
Require Import Reals Lra.
Open Scope R_scope.

Definition whole (x : R) : Prop := exists k : nat, x = INR (S k).

Lemma from_le a b : a <= b -> 0 <= b - a. Proof. lra. Qed.
Lemma from_ge a b : a >= b -> 0 <= a - b. Proof. lra. Qed.
Lemma from_lt a b : a < b -> 0 < b - a. Proof. lra. Qed.
Lemma from_gt a b : a > b -> 0 < a - b. Proof. lra. Qed.
Lemma from_eq a b : a = b -> 0 <= a - b. Proof. lra. Qed.
Lemma from_eq_turned a b : a = b -> 0 <= b - a. Proof. lra. Qed.
Lemma to_le a b : 0 <= b - a -> a <= b. Proof. lra. Qed.
Lemma to_ge a b : 0 <= a - b -> a >= b. Proof. lra. Qed.
Lemma to_lt a b : 0 < b - a -> a < b. Proof. lra. Qed.
Lemma to_gt a b : 0 < a - b -> a > b. Proof. lra. Qed.
Lemma to_eq a b : 0 <= a - b -> 0 <= b - a -> a = b. Proof. lra. Qed.

Lemma scaled p q c : 0 < c -> q = p * c -> 0 <= p -> 0 <= q.
Proof. intros C E P; rewrite E; apply Rmult_le_pos; [exact P | apply Rlt_le; exact C]. Qed.
Lemma scaled_strict p q c : 0 < c -> q = p * c -> 0 < p -> 0 < q.
Proof. intros C E P; rewrite E; apply Rmult_lt_0_compat; assumption. Qed.
Lemma unscaled_strict p q c : 0 < c -> q = p * c -> 0 < q -> 0 < p.
Proof.
  intros C E Q; apply (scaled_strict q p (/ c)); [apply Rinv_0_lt_compat; exact C | | exact Q].
  rewrite E; field; apply Rgt_not_eq; exact C.
Qed.
Lemma unscaled p q c : 0 < c -> q = p * c -> 0 <= q -> 0 <= p.
Proof.
  intros C E Q; apply (scaled q p (/ c)); [apply Rinv_0_lt_compat; exact C | | exact Q].
  rewrite E; field; apply Rgt_not_eq; exact C.
Qed.
Lemma positive b : 0 <= b -> b <> 0 -> 0 < b.
Proof. intros H N; destruct H as [H | H]; [exact H | elim N; symmetry; exact H]. Qed.
Lemma not_zero b : 0 < b -> b <> 0. Proof. lra. Qed.
Lemma by_value a b : a = b -> 0 < b -> 0 < a. Proof. lra. Qed.
Lemma void p q : q = - p -> 0 <= p -> 0 < q -> False. Proof. lra. Qed.
Lemma void_strict p q : q = - p -> 0 < p -> 0 <= q -> False. Proof. lra. Qed.

(* A new variable y for x, where h says how much x differs from a bound: x*D = N with D positive. *)
Lemma least x h a b : 0 < b -> h = b * x - a -> 0 <= h -> exists y, 0 <= y /\ 0 < b /\ x * b = a + b * y.
Proof.
  intros B E H; exists (h / b); repeat split; [| exact B | rewrite E; field; lra].
  apply Rmult_le_pos; [exact H | apply Rlt_le, Rinv_0_lt_compat; exact B].
Qed.
Lemma least_strict x h a b : 0 < b -> h = b * x - a -> 0 < h -> exists y, 0 < y /\ 0 < b /\ x * b = a + b * y.
Proof.
  intros B E H; exists (h / b); repeat split; [| exact B | rewrite E; field; lra].
  apply Rmult_lt_0_compat; [exact H | apply Rinv_0_lt_compat; exact B].
Qed.
Lemma least_relative x h a b :
  0 < b -> 0 < a -> h = b * x - a -> 0 <= h -> exists y, 0 <= y /\ 0 < b /\ x * b = a + a * y.
Proof.
  intros B A E H; exists (h / a); repeat split; [| exact B | rewrite E; field; lra].
  apply Rmult_le_pos; [exact H | apply Rlt_le, Rinv_0_lt_compat; exact A].
Qed.
Lemma least_relative_strict x h a b :
  0 < b -> 0 < a -> h = b * x - a -> 0 < h -> exists y, 0 < y /\ 0 < b /\ x * b = a + a * y.
Proof.
  intros B A E H; exists (h / a); repeat split; [| exact B | rewrite E; field; lra].
  apply Rmult_lt_0_compat; [exact H | apply Rinv_0_lt_compat; exact A].
Qed.
Lemma most x h a b :
  0 < x -> 0 < b -> h = b - a * x -> 0 <= h -> exists y, 0 <= y /\ 0 < a + b * y /\ x * (a + b * y) = b.
Proof.
  intros X B E H; exists (h / (b * x)).
  assert (Z : a + b * (h / (b * x)) = b / x) by (rewrite E; field; lra).
  rewrite Z; repeat split; [| | field; lra].
  - apply Rmult_le_pos; [exact H | apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; assumption].
  - apply Rmult_lt_0_compat; [exact B | apply Rinv_0_lt_compat; exact X].
Qed.
Lemma most_strict x h a b :
  0 < x -> 0 < b -> h = b - a * x -> 0 < h -> exists y, 0 < y /\ 0 < a + b * y /\ x * (a + b * y) = b.
Proof.
  intros X B E H; exists (h / (b * x)).
  assert (Z : a + b * (h / (b * x)) = b / x) by (rewrite E; field; lra).
  rewrite Z; repeat split; [| | field; lra].
  - apply Rmult_lt_0_compat; [exact H | apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption].
  - apply Rmult_lt_0_compat; [exact B | apply Rinv_0_lt_compat; exact X].
Qed.
Lemma most_relative x h a b :
  0 < x -> 0 < b -> 0 < a -> h = b - a * x -> 0 <= h -> exists y, 0 <= y /\ 0 < a + a * y /\ x * (a + a * y) = b.
Proof.
  intros X B A E H; exists (h / (a * x)).
  assert (Z : a + a * (h / (a * x)) = b / x) by (rewrite E; field; lra).
  rewrite Z; repeat split; [| | field; lra].
  - apply Rmult_le_pos; [exact H | apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; assumption].
  - apply Rmult_lt_0_compat; [exact B | apply Rinv_0_lt_compat; exact X].
Qed.
Lemma most_relative_strict x h a b :
  0 < x -> 0 < b -> 0 < a -> h = b - a * x -> 0 < h -> exists y, 0 < y /\ 0 < a + a * y /\ x * (a + a * y) = b.
Proof.
  intros X B A E H; exists (h / (a * x)).
  assert (Z : a + a * (h / (a * x)) = b / x) by (rewrite E; field; lra).
  rewrite Z; repeat split; [| | field; lra].
  - apply Rmult_lt_0_compat; [exact H | apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption].
  - apply Rmult_lt_0_compat; [exact B | apply Rinv_0_lt_compat; exact X].
Qed.

Lemma nonnegative_cases x : 0 <= x -> x = 0 \/ 0 < x. Proof. lra. Qed.
Lemma real_cases x : 0 <= - x \/ 0 <= x. Proof. lra. Qed.
Lemma whole_least x : whole x -> 1 <= x.
Proof. intros [k E]; rewrite E, S_INR; pose proof (pos_INR k); lra. Qed.
Lemma whole_cases x : whole x -> x = 1 \/ 2 <= x.
Proof.
  intros [k E]; destruct k as [| k]; [left; rewrite E; reflexivity | right].
  rewrite E, !S_INR; pose proof (pos_INR k); lra.
Qed.

(* Signs that are seen: no term is negative. *)
Ltac seen :=
  first [ assumption | apply Rlt_le; assumption | match goal with
  | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; seen
  | |- 0 <= ?a * ?a => apply Rle_0_sqr
  | |- 0 <= ?a * ?b => apply Rmult_le_pos; seen
  | |- 0 <= ?a ^ _ => apply pow_le; seen
  | |- 0 <= / _ => apply Rlt_le, Rinv_0_lt_compat; seen
  | |- 0 < ?a + ?b => first [apply Rplus_lt_le_0_compat; [seen | seen] | apply Rplus_le_lt_0_compat; [seen | seen]]
  | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; seen
  | |- 0 < ?a ^ _ => apply pow_lt; seen
  | |- 0 < / _ => apply Rinv_0_lt_compat; seen
  end | clear; lra ].
Ltac nonzero :=
  first [ assumption | match goal with
  | |- ?a * ?b <> 0 => apply Rmult_integral_contrapositive_currified; nonzero
  | |- ?a ^ _ <> 0 => apply pow_nonzero; nonzero
  end | apply not_zero; seen | clear; lra ].
Ltac equal := first [ reflexivity | field; repeat split; nonzero ].
