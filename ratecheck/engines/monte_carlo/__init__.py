"""Simulation by steps or by leaps."""
