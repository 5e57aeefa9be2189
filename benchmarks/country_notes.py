"""Make a small corpus of notes about countries, in which sentences begin with any name.

    python -m benchmarks.country_notes --out DIR

These are the texts about countries among 300 articles and 10,000 notes of miniworld, and as many
in proportion to validate and test with: enough to train a small model on in a minute. Articles put
the words of a relation before its object ("the highest point is …"), notes also behind it.
"""

import argparse
import json
import tempfile
from pathlib import Path

import lrlm
from lrlm.corpora import SPLITS
from lrlm.corpora.miniworld.corpus import write
from lrlm.corpora.miniworld.facts import domains

ARTICLES, NOTES = (300, 30, 30), 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder to create for the corpus")
    given = parser.parse_args()
    countries = set(domains()["countries"].topics)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder, articles=ARTICLES, notes=NOTES)
        texts = {}
        for split in SPLITS:
            lines = (folder / f"articles.{split}.jsonl").read_text(encoding="utf-8").splitlines()
            # A topic of which only some facts are told is called by the id of the whole one, and ~.
            texts[split] = [
                text
                for text in map(json.loads, lines)
                if text.get("topic", text["id"]).partition("~")[0] in countries
            ]
        lrlm.build_corpus(
            given.out,
            triples=folder / "triples.tsv",
            forms=folder / "forms.tsv",
            train=texts["train"],
            valid=texts["valid"],
            test=texts["test"],
        )
    print({split: len(listed) for split, listed in texts.items()})


if __name__ == "__main__":
    main()
