"""Commands about proofs."""
