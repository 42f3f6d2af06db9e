"""Statements on paper: formulas in canonical form, abbreviations, and pages in Unicode, ASCII, LaTeX and Markdown."""
