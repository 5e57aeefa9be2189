"""Make names of addresses (IRIs), for entities and relation types that have no label.

>>> relation_label("http://dbpedia.org/ontology/populationTotal")
'population total'
>>> entity_names("http://dbpedia.org/resource/Mercury_(planet)")
('Mercury',)
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from lrlm.characters import NOT_ON_A_LINE, clean_name, refused_in
from lrlm.errors import InputError

PREFIXES = {
    "dbo": "http://dbpedia.org/ontology/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
"""Short names of well-known vocabularies, for those who name a predicate."""

_SCHEMA_ORG = ("https://schema.org/", "http://schema.org/")
"""The one vocabulary that is written with both."""

_FILE = re.compile(
    r"\.(?:html?|php|aspx?|jsp|pdf|xml|json|rdf|ttl|nt|owl|csv|txt|zip|gz"
    r"|jpe?g|png|svg|gif|tiff?|webp|mp[34]|og[agv]|webm|wav)$",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"[A-Za-z]?[\d_.:-]*|[0-9A-Fa-f-]{16,}")
"""A number, a letter with a number (`Q42`), a hash or a UUID: nobody writes it in a text."""
_IN_BRACKETS = re.compile(r"(.*\S)[ _]*\([^()]*\)")
_WORD_BEGINS = re.compile(r"(?<=[^\W\dA-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][^\W\dA-Z_])")
_RARE = re.compile(r"[#%?]|/$")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


@dataclass(frozen=True)
class NamePredicates:
    """The predicates whose values are names, the best first."""

    labels: tuple[str, ...] = ("rdfs:label", "skos:prefLabel", "schema:name", "foaf:name")
    """Predicates of what something is called."""
    aliases: tuple[str, ...] = ("skos:altLabel", "schema:alternateName")
    """Predicates of its other names."""

    def __post_init__(self) -> None:
        for name in (*self.labels, *self.aliases):
            expand(name)

    def ranks(self) -> dict[str, tuple[bool, int]]:
        """Give each predicate's address, whether it gives aliases, and its place in the list."""
        found: dict[str, tuple[bool, int]] = {}
        for is_alias, names in ((False, self.labels), (True, self.aliases)):
            for rank, name in enumerate(names):
                for address in expand(name):
                    found.setdefault(address, (is_alias, rank))
        return found


def expand(name: str) -> tuple[str, ...]:
    """Give the address that a short name such as `rdfs:label` stands for; one may have two.

    >>> expand("skos:prefLabel")
    ('http://www.w3.org/2004/02/skos/core#prefLabel',)
    """
    prefix, colon, rest = name.partition(":")
    if rest and not rest.startswith("//") and prefix in PREFIXES:
        vocabularies = _SCHEMA_ORG if prefix == "schema" else (PREFIXES[prefix],)
        return tuple(f"{each}{rest}" for each in vocabularies)
    if not (colon and rest.startswith("//") and _ADDRESS.fullmatch(name)):
        raise InputError(
            f"{name!r} is not a predicate: give its whole address, as http://example.org/name, or"
            f" a short name with one of the prefixes {', '.join(PREFIXES)}"
        )
    return (name,)


def is_address(id_: str) -> bool:
    """Whether an id is an address, and so no name that people would write.

    >>> is_address("http://example.org/Oslo"), is_address("urn:isbn:0"), is_address("Oslo: a town")
    (True, True, False)
    """
    return "://" in id_ or id_.startswith("urn:")


def entity_names(address: str) -> tuple[str, ...]:
    """Give the names that an entity's address suggests; none for numbers, hashes and files.

    >>> entity_names("http://example.org/MountEverest")
    ('Mount Everest', 'MountEverest')
    >>> entity_names("http://example.org/Q42")
    ()
    """
    local = _local(address)
    if not local.isalpha() and (_OPAQUE.fullmatch(local) or ("." in local and _FILE.search(local))):
        return ()
    if local.endswith(")") and (match := _IN_BRACKETS.fullmatch(local)):
        local = match[1]
    if "_" not in local and "-" in local and local == local.lower():
        local = local.replace("-", " ")
    whole = clean_name(local.replace("_", " "))
    if not whole or " " in whole:
        return (whole,) if whole else ()
    words = _WORD_BEGINS.sub(" ", whole)
    return (whole,) if words == whole else (words, whole)


def relation_label(address: str) -> str:
    """Write what a relation type or a class is called in its address as words.

    >>> relation_label("http://example.org/hasISBNNumber")
    'has ISBN number'
    """
    words = _WORD_BEGINS.sub(" ", re.sub(r"[_-]+", " ", _local(address))).split()
    lower = (word if len(word) > 1 and word.isupper() else word.lower() for word in words)
    return clean_name(" ".join(lower)) or clean_name(address)


def _local(address: str) -> str:
    """Give the last part of an address, behind the last # or /; "" for a mere host."""
    if (last_slash := address.rfind("/")) > len("https://") and not _RARE.search(
        address, last_slash
    ):
        return address[last_slash + 1 :]  # nearly all of them
    _, is_web, rest = address.partition("://")
    if is_web:
        host, slash, path = rest.partition("/")
        rest = path if slash else host.partition("#")[2]
    else:
        rest = address
    last = rest.rstrip("/#").rpartition("#")[2].rpartition("/")[2].partition("?")[0]
    if not is_web:
        last = last.rpartition(":")[2]
    if "%" not in last:
        return last
    text = unquote(last)
    return "" if "\ufffd" in text or refused_in(text, NOT_ON_A_LINE) else text


NAME_PREDICATES = NamePredicates()
