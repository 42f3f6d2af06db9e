"""Mistakes that a statement itself shows, before anything long is run: one file per family of checks."""
