"""A perplexity in, how it is shown out."""

_LONG = 1e7


def shown_perplexity(value: float) -> str:
    """Write it with one decimal, or as a power of ten where nobody would count the digits."""
    return f"{value:,.1f}" if value < _LONG else f"{value:.1e}"
