(* Written by ratecheck. For Coq 8.16 or later: coqc FILE.v
   Every lemma is a claim with both sides as they are written; its hypotheses are those of the claim. Claims are about
   points where denominators are not 0 and where what stands under a root is not negative. Numbers of more than thirty
   digits are hexadecimal, 0x..., which Coq reads many times faster. *)
Require Import Reals Lra Lia QArith Qreals.
Open Scope R_scope.

(* Equations of polynomials whose coefficients are fractions: `ring` reckons with these. Sums are reduced, so that numbers
   stay short. *)
Definition fraction (q : Q) : R :=
  match Qden q with xH => IZR (Qnum q) | d => IZR (Qnum q) / IZR (Zpos d) end.
Definition fraction_sum (p q : Q) : Q :=
  if Pos.eqb (Qden p) (Qden q) then (Qnum p + Qnum q # Qden p)%Q else Qred (p + q).
Lemma fraction_value q : fraction q = Q2R q.
Proof. destruct q as [n [d | d |]]; unfold fraction, Q2R; cbn [Qnum Qden]; [| | field]; reflexivity. Qed.
Lemma fraction_sum_value p q : (fraction_sum p q == p + q)%Q.
Proof.
  destruct p as [n d], q as [k e]; unfold fraction_sum; cbn [Qnum Qden].
  destruct (Pos.eqb_spec d e); [subst | apply Qred_correct].
  unfold Qeq, Qplus; cbn [Qnum Qden]; rewrite Pos2Z.inj_mul; ring.
Qed.
Lemma fractions : ring_morph 0 1 Rplus Rmult Rminus Ropp (@eq R)
  0%Q 1%Q fraction_sum Qmult (fun p q => fraction_sum p (Qopp q)) Qopp Qeq_bool fraction.
Proof.
  constructor; intros; rewrite ?fraction_value, ?(Qeq_eqR _ _ (fraction_sum_value _ _)).
  - apply RMicromega.Q2R_0.
  - apply RMicromega.Q2R_1.
  - apply Q2R_plus.
  - apply Q2R_minus.
  - apply Q2R_mult.
  - apply Q2R_opp.
  - apply Qeq_eqR, Qeq_bool_eq; assumption.
Qed.
Ltac fraction_of t :=
  match t with
  | IZR ?n / IZR (Zpos ?d) => constr:((n # d)%Q)
  | IZR ?n => constr:((n # 1)%Q)
  | R0 => constr:(0%Q)
  | R1 => constr:(1%Q)
  | _ => constr:(InitialRing.NotConstant)
  end.
Add Ring Fractions : RTheory (morphism fractions, constants [fraction_of], power_tac R_power_theory [Rpow_tac]).

Definition whole (x : R) : Prop := exists k : nat, x = INR (S k).

(* The root of order n, 0 for what is negative. *)
Definition root (n : nat) (x : R) : R := if Rle_dec x 0 then 0 else Rpower x (/ INR n).
Lemma root_of_power n k y : (0 < n)%nat -> (0 < k)%nat -> 0 <= y -> root n (y ^ (n * k)) = y ^ k.
Proof.
  intros N K H; unfold root; destruct (Rle_dec (y ^ (n * k)) 0) as [Z | P].
  - destruct H as [H | H]; [pose proof (pow_lt y (n * k) H); lra |].
    rewrite <- H; symmetry; apply pow_i; exact K.
  - destruct H as [H | H]; [| rewrite <- H, pow_i in P; [lra |]].
    + rewrite Nat.mul_comm, pow_mult, <- (Rpower_pow n) by (apply pow_lt; exact H).
      rewrite Rpower_mult, Rinv_r, Rpower_1; [reflexivity | apply pow_lt; exact H |].
      apply not_0_INR, Nat.neq_sym, Nat.lt_neq; exact N.
    + apply Nat.mul_pos_pos; assumption.
Qed.
Lemma power_of_root n x : (0 < n)%nat -> 0 <= x -> root n x ^ n = x.
Proof.
  intros N H; unfold root; destruct (Rle_dec x 0) as [Z | P].
  - replace x with 0 by lra; apply pow_i; exact N.
  - rewrite <- Rpower_pow by apply exp_pos; rewrite Rpower_mult, Rinv_l, Rpower_1; [reflexivity | lra |].
    apply not_0_INR, Nat.neq_sym, Nat.lt_neq; exact N.
Qed.
Lemma root_nonnegative n x : 0 <= root n x.
Proof. unfold root; destruct (Rle_dec x 0); [apply Rle_refl | apply Rlt_le, exp_pos]. Qed.
Lemma root_positive n x : 0 < x -> 0 < root n x.
Proof. intros H; unfold root; destruct (Rle_dec x 0); [lra | apply exp_pos]. Qed.
Lemma has_root n x : (0 < n)%nat -> 0 <= x -> exists y, 0 <= y /\ x = y ^ n.
Proof. intros N H; exists (root n x); split; [apply root_nonnegative | symmetry; apply power_of_root; assumption]. Qed.
Lemma has_root_strict n x : (0 < n)%nat -> 0 < x -> exists y, 0 < y /\ x = y ^ n.
Proof.
  intros N H; exists (root n x); split; [apply root_positive; exact H |].
  symmetry; apply power_of_root; [exact N | apply Rlt_le; exact H].
Qed.

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

(* Vectors of a real inner product space, and all that is supposed of it. *)
Section InnerProductSpace.
Variable V : Type.
Variable vadd : V -> V -> V.
Variable vscale : R -> V -> V.
Variable inner : V -> V -> R.
Hypothesis inner_symmetric : forall u v, inner u v = inner v u.
Hypothesis inner_add : forall u v w, inner (vadd u v) w = inner u w + inner v w.
Hypothesis inner_scale : forall a u v, inner (vscale a u) v = a * inner u v.
Hypothesis inner_nonnegative : forall u, 0 <= inner u u.
Notation "u [+] v" := (vadd u v) (at level 50, left associativity).
Notation "a [*] u" := (vscale a u) (at level 40, left associativity).
Notation "u [-] v" := (vadd u (vscale (- 1) v)) (at level 50, left associativity).

Lemma inner_add_right u v w : inner w (u [+] v) = inner w u + inner w v.
Proof. rewrite inner_symmetric, inner_add, (inner_symmetric u), (inner_symmetric v); reflexivity. Qed.
Lemma inner_scale_right a u v : inner v (a [*] u) = a * inner v u.
Proof. rewrite inner_symmetric, inner_scale, (inner_symmetric u); reflexivity. Qed.

(* The squared norm of a combination of vectors, in inner products of these. *)
Fixpoint combination (o : V) (l : list (R * V)) : V :=
  match l with nil => 0 [*] o | cons (a, u) m => a [*] u [+] combination o m end.
Fixpoint cross (u : V) (l : list (R * V)) : R :=
  match l with nil => 0 | cons (a, v) m => a * inner u v + cross u m end.
Fixpoint norm (l : list (R * V)) : R :=
  match l with nil => 0 | cons (a, u) m => a * a * inner u u + 2 * a * cross u m + norm m end.
Lemma inner_combination o u l : inner u (combination o l) = cross u l.
Proof.
  induction l as [| [a v] l I]; cbn [combination cross].
  - rewrite inner_scale_right; ring.
  - rewrite inner_add_right, inner_scale_right, I; reflexivity.
Qed.
Lemma norm_combination o l : inner (combination o l) (combination o l) = norm l.
Proof.
  induction l as [| [a u] l I].
  - cbn [combination norm]; rewrite inner_scale; ring.
  - change (inner (a [*] u [+] combination o l) (a [*] u [+] combination o l) =
      a * a * inner u u + 2 * a * cross u l + norm l).
    rewrite inner_add, !inner_add_right, !inner_scale, !inner_scale_right, I.
    rewrite (inner_symmetric (combination o l) u), !inner_combination; ring.
Qed.
Lemma norm_nonnegative l : 0 <= norm l.
Proof.
  destruct l as [| [a u] l]; [apply Rle_refl |].
  rewrite <- (norm_combination u); apply inner_nonnegative.
Qed.

(* Signs that are seen: no term is negative. *)
Ltac seen :=
  first [ assumption | apply Rlt_le; assumption | lazymatch goal with
  | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; seen
  | |- 0 <= ?a * ?a => apply Rle_0_sqr
  | |- 0 <= ?a * ?b => apply Rmult_le_pos; seen
  | |- 0 <= ?a / ?b => apply Rmult_le_pos; [seen | apply Rlt_le, Rinv_0_lt_compat; seen]
  | |- 0 <= ?a ^ _ => apply pow_le; seen
  | |- 0 <= / _ => apply Rlt_le, Rinv_0_lt_compat; seen
  | |- 0 <= norm _ => apply norm_nonnegative
  | |- 0 <= inner ?u ?u => apply inner_nonnegative
  | |- 0 <= root _ _ => apply root_nonnegative
  | |- 0 < ?a + ?b => first [apply Rplus_lt_le_0_compat; [seen | seen] | apply Rplus_le_lt_0_compat; [seen | seen]]
  | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; seen
  | |- 0 < ?a / ?b => apply Rmult_lt_0_compat; [seen | apply Rinv_0_lt_compat; seen]
  | |- 0 < ?a ^ _ => apply pow_lt; seen
  | |- 0 < / _ => apply Rinv_0_lt_compat; seen
  | |- 0 < root _ _ => apply root_positive; seen
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < Rpower _ _ => apply exp_pos
  | |- 0 < PI => exact PI_RGT_0
  | |- 0 <= exp _ => apply Rlt_le, exp_pos
  | |- 0 <= Rpower _ _ => apply Rlt_le, exp_pos
  | |- 0 <= PI => exact (Rlt_le _ _ PI_RGT_0)
  | |- _ => clear; lra
  end ].
Ltac nonzero :=
  first [ assumption | lazymatch goal with
  | |- ?a * ?b <> 0 => apply Rmult_integral_contrapositive_currified; nonzero
  | |- ?a ^ _ <> 0 => apply pow_nonzero; nonzero
  end | apply not_zero; seen | match goal with
  | H : ?q <> 0 |- ?p <> 0 => let Z := fresh in intro Z; apply H; rewrite <- Z; ring
  end ].
Ltac divided := field; repeat split; nonzero.
Ltac expanded := repeat first [rewrite inner_add | rewrite inner_scale].
Ltac below_maximum :=
  first [apply Rmax_l | apply Rmax_r | eapply Rle_trans; [| apply Rmax_r]; below_maximum].
Ltac above_minimum :=
  first [apply Rmin_l | apply Rmin_r | eapply Rle_trans; [apply Rmin_r |]; above_minimum].
