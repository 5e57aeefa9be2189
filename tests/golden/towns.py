"""Invented towns on invented rivers: tables of facts, and articles that say what they mention.

Half of the articles to train on are short and fill one window, the others are read over several.
Names nest ("River Amber", "Amber"), two relations may have one object, some words are rare, one
town in five has an object without a name, some names stand for nothing, and the tables do not know
everything that is written. The golden tests' numbers hang on every letter of this file.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOWNS = (
    "Aldermoor", "Birchwick", "Coldharrow", "Dunmere", "Elmstead", "Fallowby", "Gorsefield",
    "Hazelford", "Inglewyke", "Juniper Cross", "Kestrelham", "Larkendale", "Mossgate",
    "Nettlecombe", "Oakenrow", "Pebblewell", "Quarrybank", "Rushmarsh", "Sedgeley", "Thistledown",
    "Upper Wend", "Vetchworth", "Willowmouth", "Yarrowfleet", "Ashlock", "Brackenhithe",
    "Cloverton", "Dove Hollow", "Eskerby", "Fernhallow", "Gullstone", "Heatherlow", "Ivybridge End",
)  # fmt: skip
RIVERS = ("Amber", "Otterwater", "Thorn", "Silverlode")
PEOPLE = ("Ada Fenn", "Bram Holt", "Cora Wick", "Dan Ashe", "Edda Lowe", "Finn Marsh", "Greta Oake")
RARE = ("plover", "larkspur", "sextant", "whelk", "foxglove", "tansy", "gannet")
LITERALS = ("founded", "population", "area")

SPLITS = {"train": range(20), "valid": range(20, 25), "test": range(25, 33)}

Part = tuple[str, str | None]
"""A piece of text, and the type of the relation that it is a mention of."""


def town(number: int) -> dict[str, str]:
    """Give what is true of a town, by the type of the relation."""
    day = f"{1200 + 7 * number}-05-{1 + number % 28:02d}"
    facts = {
        "river": RIVERS[number % 4],
        "founded": day if number % 3 else day[:4],
        "population": str(4100 + 310 * number),
        "mayor": PEOPLE[number % 7],
        "poet": PEOPLE[(number if number % 2 else number + 3) % 7],
        "twin": TOWNS[(number * 5 + 2) % len(TOWNS)],
        "area": f"{3 + number}.5 km2",
    }
    return facts if number % 5 else {**facts, "patron": f"Saint {number}"}


def is_known(number: int, type_: str) -> bool:
    """Tell whether the tables have a fact; some towns have fewer than others."""
    missing = {1: ("area",), 2: ("area", "twin"), 3: ("area", "twin", "population")}
    return type_ not in missing.get(number % 4, ())


def identifier(name: str) -> str:
    """Name an entity as tables do."""
    return name.replace(" ", "_")


def triples() -> list[str]:
    """Give the lines of a table of facts."""
    return [
        f"{identifier(name)}\t{type_}\t{value}\tliteral"
        if type_ in LITERALS
        else f"{identifier(name)}\t{type_}\t{identifier(value)}"
        for number, name in enumerate(TOWNS)
        for type_, value in town(number).items()
        if is_known(number, type_)
    ]


def forms() -> list[str]:
    """Give the lines of a table of names."""
    named = [
        *((river, f"River {river}") for river in RIVERS),
        *((river, river) for river in RIVERS),
        *((name, name) for name in PEOPLE),
        *((name, name.split()[-1]) for name in PEOPLE),
        *((name, name) for name in TOWNS),
        *((name, f"{name} upon {RIVERS[number % 4]}") for number, name in enumerate(TOWNS)),
    ]
    return [f"{identifier(entity)}\t{form}" for entity, form in named]


def sentences(number: int) -> list[list[Part]]:
    """Give as many sentences about a town as there are; an article takes the first ones."""
    name, facts = TOWNS[number], town(number)
    river, poet, year = facts["river"], facts["poet"], facts["founded"][:4]
    openings: list[list[Part]] = [
        [(name, "@title"), (" lies on the ", None), (f"River {river}", "river"), (".", None)],
        [
            ("The town of ", None),
            (name, "@title"),
            (" stands by the ", None),
            (river, "river"),
            (".", None),
        ],
    ]
    more: list[list[Part]] = [
        [("It was founded in ", None), (year, "founded"), (".", None)],
        [
            (facts["mayor"], "mayor"),
            (" is the mayor, and ", None),
            (f"{int(facts['population']):,}", "population"),
            (" people live there.", None),
        ],
        [
            ("The poet ", None),
            (poet, "poet"),
            (" wrote of the mills by the ", None),
            (river, "river"),
            ("; ", None),
            (poet.split()[-1], "poet"),
            (" did not stay.", None),
        ],
        [
            ("Its twin is ", None),
            (facts["twin"], "twin"),
            (f", where the {RIVERS[(number + 1) % 4]} ends.", None),
        ],
        [(f"Each {RARE[number % 7]} in spring is counted, and the fair opens.", None)],
        [
            (f"{name} upon {river}", "@title"),
            (" covers ", None),
            (f"{3 + number}.5 km²", "area"),
            (".", None),
        ],
        [
            (f"In {year} others had a bridge, long before one was built over the ", None),
            (river, "river"),
            (".", None),
        ],
    ]
    turn = number % 3
    return [openings[number % 2], *more[turn:], *more[:turn]]


def article(number: int) -> dict[str, Any]:
    """Write an article, with its true mentions by characters; a mention may leave its type open."""
    is_short = number < 10
    facts = {**town(number), "@title": TOWNS[number]}
    text = ""
    gold: list[dict[str, Any]] = []
    for sentence in sentences(number)[: 2 if is_short else 5 + number % 4]:
        text += " " if text else ""
        for words, type_ in sentence:
            if type_ is not None:
                is_open = number % 6 == 1 and type_ == "poet"
                thing = facts[type_] if type_ in LITERALS else identifier(facts[type_])
                place = {"start": len(text), "end": len(text) + len(words)}
                gold.append({**place, "type": None if is_open else type_, "object": thing})
            text += words
    name = TOWNS[number]
    head = {"id": f"{identifier(name)}.1", "topic": identifier(name), "title": name}
    return {**head, "text": text, "gold": gold}


def topic(number: int, *, new: bool = False) -> dict[str, Any]:
    """Give a town as the JSON of a topic; a new one has a name that no table has."""
    facts, name = town(number), "Zephyr Quay" if new else TOWNS[number]
    river = facts["river"]
    people = [
        {
            "type": type_,
            "object": identifier(facts[type_]),
            "forms": [facts[type_], facts[type_].split()[-1]],
        }
        for type_ in ("mayor", "poet")
    ]
    return {
        "id": identifier(name),
        "names": [name, f"{name} upon {river}"],
        "relations": [
            {"type": "river", "object": river, "forms": [f"River {river}", river]},
            {"type": "founded", "object": facts["founded"], "forms": [facts["founded"][:4]]},
            *people,
            {"type": "lighthouse", "object": "Q77", "forms": ["Old Lamp"]},
        ],
    }


TEXTS = (
    ("Aldermoor lies on the River Amber. It was founded in 1200.", topic(0)),
    (
        """Zephyr Quay upon Otterwater stands by the Otterwater. Holt is the mayor; Bram Holt, a
poet, wrote of the mills by the River Otterwater, and Édouard's whelks — 1207 of them — did not
stay near the Old Lamp. It was founded in 1207.""",
        topic(1, new=True),
    ),
    ("Each plover in spring is counted, and the fair opens.", topic(9)),
    (
        """Juniper Cross lies on the Otterwater. Greta Oake met Cora Wick there, and Wick met Oake.
The Amber is not near. In 1263 a bridge was built; in 1264 it fell. The poet Cora Wick wrote of the
River Otterwater and of Juniper Cross upon Otterwater. It was founded in 1263.""",
        topic(9),
    ),
)
"""Texts, each with its topic."""


def write(folder: Path) -> list[str]:
    """Write the tables and articles; give the arguments of `lrlm corpus build` that name them."""
    folder.mkdir(parents=True, exist_ok=True)
    _lines(folder / "triples.tsv", triples())
    _lines(folder / "forms.tsv", forms())
    arguments = ["--triples", str(folder / "triples.tsv"), "--forms", str(folder / "forms.tsv")]
    for split, numbers in SPLITS.items():
        _lines(folder / f"{split}.jsonl", [json.dumps(article(number)) for number in numbers])
        arguments += [f"--{split}", str(folder / f"{split}.jsonl")]
    return arguments


def _lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
