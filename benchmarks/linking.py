"""Time linking and tokenising alone, on one core: run `python -m benchmarks.linking`.

Both are given in millions of tokens per CPU second, the fastest of several runs over all training
articles. Linking starts from words and from forms that are cut into words, and includes making
the matcher of each article's topic. Tokenising starts from running text: the articles' tokens are
first joined as people write them.
"""

import re
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.corpus_inputs import inputs_in, parser
from lrlm.corpora import LinkableRelation, Matcher
from lrlm.corpora.build import build_from
from lrlm.text import Profile, tokenise

RUNS = 5
GOALS = {"linking": 5.0, "tokenising": 1.0}


def fastest(action: Callable[[], object]) -> float:
    """Give the CPU seconds of the fastest run: other work on the machine only ever adds to it."""
    best = float("inf")
    for _ in range(RUNS):
        begin = time.process_time()
        action()
        best = min(best, time.process_time() - begin)
    return best


def link(articles: list[tuple[tuple[LinkableRelation, ...], list[str]]]) -> None:
    for relations, words in articles:
        Matcher(relations).find(words)


def tokenise_all(texts: list[str], profile: Profile) -> None:
    for text in texts:
        tokenise(text, profile)


def as_running_text(text: str) -> str:
    """Undo what a tokeniser did to a text, roughly; running text stays as it is."""
    text = re.sub(r" (?=[.,;:)%?!]|'s\b|n't\b)", "", text)
    return text.replace("( ", "(")


def main() -> None:
    arguments = parser(__doc__ or "").parse_args()
    with inputs_in(arguments.data) as inputs, tempfile.TemporaryDirectory() as scratch:
        corpus = build_from(Path(scratch) / "corpus", inputs)
        documents = list(corpus.documents("train"))
    linkable = [(document.relations, document.tokens.words) for document in documents]
    texts = [as_running_text(document.text) for document in documents]
    mentions = sum(len(document.mentions) for document in documents)
    tokens = sum(len(document.tokens) for document in documents)
    print(f"{len(documents):,} articles, {tokens:,} tokens, {mentions:,} candidates\n")
    print(f"{'':24}M tokens per CPU second")
    report("linking", tokens, fastest(lambda: link(linkable)))
    for profile in Profile:
        count = sum(len(tokenise(text, profile)) for text in texts)
        report(f"tokenising {profile}", count, fastest(partial(tokenise_all, texts, profile)))


def report(what: str, tokens: int, seconds: float) -> None:
    goal = GOALS[what.split(maxsplit=1)[0]]
    print(f"{what:24}{tokens / seconds / 1e6:>8.2f}    (goal {goal:.0f})")


if __name__ == "__main__":
    main()
