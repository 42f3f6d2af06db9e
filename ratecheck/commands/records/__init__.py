"""Commands about studies, their stored results, reports and figures."""
