"""Training: a model learned from a corpus, kept in a run folder."""
