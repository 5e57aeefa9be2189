"""Training: a corpus and a configuration in, a run folder with a trained model out."""
