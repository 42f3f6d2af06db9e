"""Commands that need a statement only."""
