"""Problems given by formulas."""
