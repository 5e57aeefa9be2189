"""A number and a noun in, how one says it out: "1 token", "2,000 tokens"."""


def counted(number: int, noun: str) -> str:
    """Say how many there are of something whose plural ends in an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
