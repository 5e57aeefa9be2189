"""How perplexities are shown."""

from lrlm.report.perplexity_words import shown_perplexity


def test_long_ones_are_powers_of_ten() -> None:
    assert shown_perplexity(2.04) == "2.0"
    assert shown_perplexity(1234567.8) == "1,234,567.8"
    assert shown_perplexity(1.234e300) == "1.2e+300"
