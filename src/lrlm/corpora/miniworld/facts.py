"""Read the facts and names of the embedded corpus: for each domain its relations and its topics.

`facts/<domain>.tsv` has one topic a line: its id, then one column a relation, headed `type:kind`.
Objects of an entity cell stand between ` | `; an empty cell is no fact. `facts/<domain>.names.tsv`
gives the names of topics and objects, the canonical one first; a thing without a line there is
called by its id.

A name given as "the Danube" says that "Danube" is a form that wants the article. The article itself
is no part of the form: it is a word of the sentence, so that a text has one true segmentation.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from lrlm.errors import FormatError
from lrlm.knowledge.literals import literal_forms
from lrlm.knowledge.topic import Relation, Topic

KINDS = ("entity", "date", "year", "quantity", "text")
_LITERAL = {
    "date": re.compile(r"-?\d{4}(-\d\d(-\d\d)?)?"),
    "year": re.compile(r"-?\d{1,4}"),
    "quantity": re.compile(r"-?\d+(\.\d+)?( \S+)?"),
    "text": re.compile(r"\S(.*\S)?"),
}
ENTITY = re.compile(r"[^\s|]+")
_DISAMBIGUATION = re.compile(r"_\([^()]*\)$")
_PRONOUNS = {
    "he": {"he": "he", "his": "his", "him": "him"},
    "she": {"he": "she", "his": "her", "him": "her"},
}
_SPOKEN_LIKE_A_CONSONANT = re.compile(r"(?i)eu|uni[^nm]|uk|us|ut|ura|one\b|u-|u\b|ub")
_SPOKEN_LIKE_A_VOWEL = re.compile(r"[FHLMNRSX](-|\b|[A-Z]{2}\b)|8|11\b|18\b|(?i:hour|honest|heir)")


@dataclass(slots=True)
class NameTable:
    """The forms of every named thing, and those of them that take "the"."""

    forms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    definite: set[tuple[str, str]] = field(default_factory=set)

    def of(self, entity: str) -> tuple[str, ...]:
        """Give a thing's forms, the canonical one first; without any it is called by its id."""
        return self.forms.get(entity) or (_DISAMBIGUATION.sub("", entity).replace("_", " "),)

    def wants_the(self, mention: Relation, form: str) -> bool:
        """Tell whether a sentence that mentions the object in this form needs "the"."""
        rules = _rules()
        if form in rules.bare or "'s " in form or form.startswith("The "):
            return False
        return (
            (mention.object, form) in self.definite
            or mention.type in rules.relations
            or bool(rules.definite.search(form))
        )


@dataclass(frozen=True, slots=True)
class Domain:
    """One kind of topics: the kind of each relation's objects, the topics by id, all names."""

    name: str
    kinds: dict[str, str]
    topics: dict[str, Topic]
    names: NameTable


def domains(folder: Traversable | None = None) -> dict[str, Domain]:
    """Read every domain of a folder, by default of the facts that come with the package."""
    return _packaged() if folder is None else _read(folder)


def topics() -> dict[str, Topic]:
    """Give every topic of the embedded corpus with all its facts, by id."""
    return {id_: topic for domain in domains().values() for id_, topic in domain.topics.items()}


@cache
def _packaged() -> dict[str, Domain]:
    return _read(files("lrlm.corpora.miniworld") / "facts")


def _read(folder: Traversable) -> dict[str, Domain]:
    tables = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".tsv")),
        key=lambda file: file.name,
    )
    names = read_names(table for table in tables if table.name.endswith(".names.tsv"))
    result: dict[str, Domain] = {}
    home: dict[str, str] = {}
    for table in tables:
        if table.name.endswith(".names.tsv"):
            continue
        domain = _domain(table, names)
        result[domain.name] = domain
        for topic in domain.topics:
            if topic in home:
                raise FormatError(f"{table.name}: {topic} is already a topic of {home[topic]}")
            home[topic] = table.name
    if not result:
        raise FormatError(f"{folder}: no table of facts (<domain>.tsv)")
    return result


def _domain(table: Traversable, names: NameTable) -> Domain:
    lines = _rows(table)
    where, header = next(lines, (table.name, []))
    kinds: dict[str, str] = {}
    for cell in header[1:]:
        type_, _, kind = cell.rpartition(":")
        if not type_ or kind not in KINDS or type_ in kinds:
            raise FormatError(f"{where}: {cell!r} is not a new `type:kind`; kinds are {KINDS}")
        kinds[type_] = kind
    if header[:1] != ["id"] or not kinds:
        raise FormatError(f"{where}: the first line must be `id`, then `type:kind` columns")
    found: dict[str, Topic] = {}
    for where, cells in lines:
        if len(cells) != len(header):
            raise FormatError(f"{where}: {len(cells)} cells where the header has {len(header)}")
        if not ENTITY.fullmatch(cells[0]) or cells[0] in found:
            raise FormatError(f"{where}: {cells[0]!r} is not a new id (no spaces, no '|')")
        relations = [
            Relation(type_, object_, _forms(object_, kind, names))
            for (type_, kind), cell in zip(kinds.items(), cells[1:], strict=True)
            for object_ in _objects(cell, type_, kind, where)
        ]
        found[cells[0]] = Topic(cells[0], _forms(cells[0], "entity", names), relations)
    return Domain(table.name.removesuffix(".tsv"), kinds, found, names)


def _objects(cell: str, type_: str, kind: str, where: str) -> list[str]:
    if not cell.strip():
        return []
    if kind == "entity":
        objects = [part.strip() for part in cell.split("|")]
        if len(set(objects)) < len(objects) or not all(map(ENTITY.fullmatch, objects)):
            raise FormatError(f"{where}: {type_}: {cell!r} is not `id | id | …` without repeats")
        return objects
    if not _LITERAL[kind].fullmatch(cell):
        raise FormatError(f"{where}: {type_}: {cell!r} is not a {kind}")
    return [cell]


def _forms(object_: str, kind: str, names: NameTable) -> tuple[str, ...]:
    return names.of(object_) if kind == "entity" else literal_forms(object_)


def read_names(tables: Iterable[Traversable]) -> NameTable:
    """Merge the names of all tables, in order and without repeats."""
    found: dict[str, dict[str, None]] = {}
    names = NameTable()
    for table in tables:
        named_with_article: set[str] = set()
        for where, cells in _rows(table):
            if cells == ["entity", "form"]:
                continue
            if len(cells) != 2 or not ENTITY.fullmatch(cells[0]) or not cells[1].strip():
                raise FormatError(f"{where}: expected an id and a name, with a tab between")
            entity, form = cells[0], cells[1].strip()
            if form.startswith("the "):
                form = form.removeprefix("the ")
                names.definite.add((entity, form))
                named_with_article.add(entity)
            found.setdefault(entity, {})[form] = None
        if table.name.partition(".")[0] in _rules().tables:
            names.definite |= {(e, form) for e in named_with_article for form in found[e]}
    names.forms = {entity: tuple(forms) for entity, forms in found.items()}
    return names


def pronouns(person: str) -> dict[str, str]:
    """Give the pronouns of a person by their masculine names; none where they are not known."""
    for pronoun, people in _rules().people.items():
        if person in people:
            return _PRONOUNS[pronoun]
    return {}


def follows_an(text: str) -> bool:
    """Choose between "a" (no) and "an" (yes) before a text."""
    if _SPOKEN_LIKE_A_VOWEL.match(text):
        return True
    return text[0] in "aeiouAEIOUÅÉÎÖÓ" and not _SPOKEN_LIKE_A_CONSONANT.match(text)


@dataclass(frozen=True, slots=True)
class _Rules:
    definite: re.Pattern[str]
    bare: frozenset[str]
    tables: frozenset[str]
    relations: frozenset[str]
    people: dict[str, frozenset[str]]


@cache
def _rules() -> _Rules:
    file = files("lrlm.corpora.miniworld") / "plans" / "names.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    starts, inside, ends = ("|".join(table[place]) for place in ("starts", "inside", "ends"))
    return _Rules(
        re.compile(rf"^(?:{starts})\b|\b(?:{inside})\b|\b(?:{ends})$"),
        frozenset(table["bare"]),
        frozenset(table["tables"]),
        frozenset(table["relations"]),
        {pronoun: frozenset(table[pronoun]) for pronoun in _PRONOUNS},
    )


def _rows(table: Traversable) -> Iterator[tuple[str, list[str]]]:
    """Give the cells of each line that is not blank, and where they stand (file and line)."""
    try:
        lines = table.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(f"{table.name}: not UTF-8 ({error})") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{table.name}, line {number}", line.split("\t")
