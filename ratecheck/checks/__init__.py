"""Checks: admissible step sizes, verdicts, tightness."""
