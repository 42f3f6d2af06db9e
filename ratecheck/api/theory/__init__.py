"""Functions that need a statement only: its text, bound, step sizes, rounds, comparisons and differences."""
