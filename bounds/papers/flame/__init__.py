"""FLAME."""
