"""True statements of all kinds and false twins of them, on which the checks are tried."""
