"""Runs: what a run folder holds, its configuration and sizes, and how a trained model is opened."""
