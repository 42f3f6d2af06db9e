"""Right-hand sides alone: tuned bounds, smallest T, orders, tables of rates."""
