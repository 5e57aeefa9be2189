"""Show evaluations, corpora and studies as tables, figures, pages and coloured text."""
