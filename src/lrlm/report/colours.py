"""Relation types in, a colour for each out: in a terminal and on a page."""

from collections.abc import Iterable

_TERMINAL = tuple(
    f"#000000 on {colour}"  # given as values: terminals disagree about what "green" is
    for colour in (
        "#a6e3a1", "#89dceb", "#f9e2af", "#f5c2e7", "#b4befe", "#fab387", "#cdd6f4", "#94e2d5",
        "#eba0ac", "#cba6f7",
    )
)  # fmt: skip

_FIRST_HUE, _HUE_STEP = 210.0, 137.508
"""Degrees; to go on by the golden angle keeps any number of hues apart."""


def terminal_styles(types: Iterable[str]) -> dict[str, str]:
    """Give each type a style of rich, in the order in which they first come."""
    return {
        name: _TERMINAL[place % len(_TERMINAL)] for place, name in enumerate(dict.fromkeys(types))
    }


def hues(types: Iterable[str]) -> dict[str, int]:
    """Give each type a hue in degrees, in the order in which they first come."""
    return {
        name: round(_FIRST_HUE + place * _HUE_STEP) % 360
        for place, name in enumerate(dict.fromkeys(types))
    }
