"""Evaluation: perplexity, significance, annotation quality and mention counts of trained models."""
