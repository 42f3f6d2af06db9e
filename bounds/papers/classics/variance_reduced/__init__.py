"""Sampled gradients whose variance vanishes."""
