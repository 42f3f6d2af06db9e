"""Moments of many clients through their types."""
