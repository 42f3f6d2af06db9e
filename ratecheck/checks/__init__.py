"""Checks: admissible step sizes, verdicts, searches for counterexamples."""
