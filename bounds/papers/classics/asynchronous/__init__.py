"""Gradients that arrive late."""
