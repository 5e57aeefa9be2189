"""Names that are hard to write: signs, quotes, clitics, abbreviations, numbers, every script."""

import random

KNOWN = (
    "+47", "-218.8 °C", "US$", "C#", "C++", "F#", ".NET", "rock 'n' roll", "@home",
    "@Home Network", "'s-Hertogenbosch", "’s-Gravenhage", "...Baby One More Time",
    "…And Justice for All", "!!!", "Yahoo!", "Jeopardy!", "Panic! at the Disco",
    "Où est la maison ?", "What's Up, Doc?", "50%", "$9.99", "A$AP Rocky", "Ke$ha", "P!nk",
    "AC/DC", "Guns N' Roses", "O'Brien", "O’Brien", "D.C.", "U.S.", "St. John's",
    "J. R. R. Tolkien", "J.R.R. Tolkien", "Mr. Bean", "Dr. No", "No. 1", "(500) Days",
    "Blink-182", "3:10 to Yuma", "1984–85", "2012-13", "24/7", "1,234.5", "£5 note", "€",
    "#1 Hits", '"Heroes"', '12" single', "“Heroes”", "‘Till Tomorrow", "'Til Tuesday", "'90s",
    "n't", "don't", "Ain't Misbehavin'", "Q*bert", "M*A*S*H", "~", "a.k.a.", "e.g. this", "=",
    "x = y", "[REC]", "(What's the Story)", "km/h", "m²", "90° N", "50° 4′ N", "R&B", "AT&T",
    "Q & A", "Live @ Home", "São Paulo", "Łódź", "Bogota\u0301", "東京", "ไทย", "日本 語", "Осло",
    "नेपाल", "🙂 club", "👩\u200d👧", "Oslo, Norway", "Paris; Texas", "Alien: Covenant", "co-op",
    "18-", "--", "a--b", "<unk>", "</s>", "-", "–", "km (", "(", "5'", "6′ 2″", "Hawai'i",
    "¿Qué?", "«Nos»", "100 000", "_", "a_b", "x\\y",
)  # fmt: skip

_PARTS = (
    *"+-#@$%&*/\\'’\"“”()[]{}.,;:!?…–—°=_~", "Oslo", "rock", "n", "C", "US", "47", "218.8",
    "1,500", "'s", "n't", "St.", "J.", "é", "東", "...", "--", " ", " ", " ", " ",
)  # fmt: skip


def awkward_names(count: int, *, seed: int = 0) -> list[str]:
    """Give the known ones, and as many more that are put together at random."""
    chance = random.Random(seed)
    names = dict.fromkeys(KNOWN)
    while len(names) < count:
        name = " ".join("".join(chance.choices(_PARTS, k=chance.randint(1, 6))).split())
        if any(character.isalnum() for character in name):
            names[name] = None
    return list(names)
