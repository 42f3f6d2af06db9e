"""Kernels of what one client computes by itself: gradients of its rows, steps in its eigenbasis, proximal maps."""
