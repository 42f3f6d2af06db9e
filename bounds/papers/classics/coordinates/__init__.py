"""Steps along single coordinates."""
