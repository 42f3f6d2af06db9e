"""How much the checks notice: statements made wrong on purpose, and who tells them from the right ones."""
