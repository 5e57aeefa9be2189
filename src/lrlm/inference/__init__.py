"""A trained model in use: score a text, annotate it, write one (`lrlm.load`)."""
