"""Makes many damaged versions of one good file, the same ones every time."""

import random
from collections.abc import Iterator

_NUMBERS = (0, 1, 127, 128, 255, 1 << 15, (1 << 16) - 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_TEXTS = (
    b"9" * 5000, b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"[" * 3000, b"(" * 300, b"null", b"-1",
    b"1e999", b"NaN", b'"', b"<", b"&#0;", b"\n", b"\r", b"\t", b" | ", b"..", b"\xe2\x80\xae",
)  # fmt: skip


def mutations(content: bytes, count: int, *, seed: int = 1) -> Iterator[bytes]:
    """Give so many versions, each changed in one to four places."""
    chance = random.Random(seed)
    for _ in range(count):
        changed = bytearray(content)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            _change(changed, chance)
        yield bytes(changed)


def _change(content: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(content) + 1)
    end = min(len(content), place + chance.choice((1, 2, 4, 8, 64, 1024)))
    match chance.randrange(8):
        case 0 | 1 if place < len(content):
            content[place] ^= 1 << chance.randrange(8)
        case 2:
            content[place:end] = chance.randbytes(end - place)
        case 3:
            del content[place:end]
        case 4:
            content[place:place] = content[place:end] * chance.choice((1, 2, 100))
        case 5:
            size = chance.choice((1, 2, 4, 8))
            number = chance.choice(_NUMBERS) % (1 << 8 * size)
            content[place : place + size] = number.to_bytes(size, chance.choice(("little", "big")))
        case 6:
            content[place:place] = chance.choice(_TEXTS)
        case _:
            del content[place:]
