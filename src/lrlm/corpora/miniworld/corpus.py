"""Generate the embedded corpus and build it like any other."""

import json
import math
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from lrlm.corpora.build import build_from
from lrlm.corpora.corpus import SPLITS, Corpus
from lrlm.corpora.inputs import BuildInputs
from lrlm.corpora.miniworld.article import GeneratedArticle, write_article
from lrlm.corpora.miniworld.facts import Domain, domains
from lrlm.corpora.miniworld.grammar import Dice, load_plans
from lrlm.corpora.miniworld.notes import cut, write_note
from lrlm.knowledge.topic import Topic
from lrlm.progress import Progress, silent
from lrlm.text import Profile

DEFAULT_SEED = 1
ARTICLES = (4000, 300, 300)
_HELD_OUT = 0.1  # of the topics of each domain, in each of valid and test
_WHOLE = 8  # one in so many notes about a topic knows all of its facts


def build_miniworld(
    out: Path | str,
    *,
    seed: int = DEFAULT_SEED,
    notes: int = 0,
    workers: int = 1,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Generate the articles of miniworld and link them with its facts.

    With `notes` there are also so many short texts to train on, and a share of them in the other
    splits: everyday sentences about topics of which little is known.
    """
    with tempfile.TemporaryDirectory(prefix="miniworld-") as scratch:
        folder = Path(scratch)
        progress("writing articles", 0, 0)
        write(folder, seed=seed, notes=notes)
        return build_from(
            out,
            BuildInputs(
                folder / "triples.tsv",
                folder / "forms.tsv",
                {split: folder / f"articles.{split}.jsonl" for split in SPLITS},
            ),
            profile=Profile.RAW,
            workers=workers,
            overwrite=overwrite,
            made_by=f"lrlm corpus miniworld --seed {seed}" + (f" --notes {notes}" if notes else ""),
            progress=progress,
        )


def write(
    folder: Path | str,
    *,
    seed: int = 1,
    articles: tuple[int, int, int] = ARTICLES,
    notes: int = 0,
) -> None:
    """Write `triples.tsv`, `forms.tsv` and `articles.{train,valid,test}.jsonl` into a folder.

    The same seed gives the same bytes on every machine. Every topic is in exactly one split;
    all its facts are written, mentioned or not. `notes` come after the articles to train on, and
    after the others as many as keep the same share.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    known = [(domain, topic) for domain in domains().values() for topic in domain.topics.values()]
    for split, count in zip(SPLITS, articles, strict=True):
        share = round(notes * count / articles[0])
        written = [*generate(split, count, seed=seed), *generate_notes(split, share, seed=seed)]
        _write_lines(folder / f"articles.{split}.jsonl", map(_json, written))
        if share:
            known += cut_topics(split, share, seed=seed).values()
    _write_lines(folder / "triples.tsv", _triples(known))
    _write_lines(folder / "forms.tsv", _forms(known))


def generate(split: str, count: int, *, seed: int = 1) -> Iterator[GeneratedArticle]:
    """Write a number of articles about the topics of a split, taking each topic in turn."""
    chosen = topics_of(split, seed=seed)
    for number in range(count):
        domain, topic = chosen[number % len(chosen)]
        id_ = f"{topic.id}.{number // len(chosen) + 1}"
        yield write_article(id_, topic, domain, load_plans(domain.name), Dice(f"{seed}/{id_}"))


def generate_notes(split: str, count: int, *, seed: int = 1) -> Iterator[GeneratedArticle]:
    """Write a number of notes about the topics of a split: whole ones and such with few facts."""
    chosen = topics_of(split, seed=seed)
    few = cut_topics(split, count, seed=seed)
    for number in range(count):
        domain, topic = chosen[number % len(chosen)]
        turn = number // len(chosen)
        domain, known = few.get((topic.id, turn), (domain, topic))
        id_ = f"{topic.id}.note{turn + 1}"
        plans, dice = load_plans(domain.name), Dice(f"{seed}/{id_}")
        yield write_note(id_, known, domain, plans, dice, person=topic.id)


def cut_topics(
    split: str, notes: int, *, seed: int = 1
) -> dict[tuple[str, int], tuple[Domain, Topic]]:
    """Give the topics of which few facts are known that this many notes are about.

    They are numbered by the turn of the note; each has a selection of facts of its own.
    """
    chosen = topics_of(split, seed=seed)
    turns = math.ceil(notes / len(chosen))
    return {
        (topic.id, turn): (domain, cut(topic, turn, Dice(f"{seed}/{topic.id}~{turn}")))
        for domain, topic in chosen
        for turn in range(turns)
        if turn % _WHOLE
    }


def topics_of(split: str, *, seed: int = 1) -> list[tuple[Domain, Topic]]:
    """Give the topics of a split with their domains: a tenth of each domain is held out twice."""
    chosen: list[tuple[Domain, Topic]] = []
    for domain in domains().values():
        order = Dice(f"{seed}/{domain.name}").shuffled(list(domain.topics.values()))
        held_out = max(1, round(_HELD_OUT * len(order)))
        parts = {
            "valid": order[:held_out],
            "test": order[held_out : 2 * held_out],
            "train": order[2 * held_out :],
        }
        chosen += [(domain, topic) for topic in parts[split]]
    return Dice(f"{seed}/{split}").shuffled(chosen)


def _triples(known: Iterable[tuple[Domain, Topic]]) -> Iterator[str]:
    for domain, topic in known:
        for relation in topic.relations:
            kind = "entity" if domain.kinds[relation.type] == "entity" else "literal"
            yield f"{topic.id}\t{relation.type}\t{relation.object}\t{kind}"


def _forms(known: Iterable[tuple[Domain, Topic]]) -> Iterator[str]:
    """Give the names of every topic and every object that is an entity, each once."""
    seen: set[str] = set()
    for domain, topic in known:
        named = [(topic.id, topic.names)] + [
            (relation.object, relation.forms)
            for relation in topic.relations
            if domain.kinds[relation.type] == "entity"
        ]
        for entity, forms in named:
            if entity not in seen:
                seen.add(entity)
                yield from (f"{entity}\t{form}" for form in forms)


def _json(written: GeneratedArticle) -> str:
    return json.dumps(
        {
            "id": written.id,
            "topic": written.topic,
            "title": written.title,
            "text": written.text,
            "gold": [
                {"start": span.start, "end": span.end, "type": span.type, "object": span.object}
                for span in written.gold
            ],
        },
        ensure_ascii=False,
    )


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
