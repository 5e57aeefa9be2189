"""Show evaluations and corpora as tables, figures and coloured text."""
