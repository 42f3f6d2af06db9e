"""Functions about proofs: audits, implications, certificates and sharper constants."""
