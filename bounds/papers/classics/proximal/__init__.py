"""The proximal point method, of convex functions that need not be smooth."""
