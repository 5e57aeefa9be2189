"""What a text is about: candidate topics from the names in it, ranked by a trained model."""
