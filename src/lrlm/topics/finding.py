"""Find the one topic of a text where none was named, in whatever topics are looked up in."""

from collections.abc import Iterable

from lrlm.corpora import LONGEST
from lrlm.errors import TopicNotFoundError
from lrlm.progress import Progress, silent
from lrlm.runs.run import Run
from lrlm.runs.topics import TopicLookup, collection_of
from lrlm.topics.index import TopicIndex
from lrlm.topics.priors import Prior
from lrlm.topics.ranking import TopicMatch, TopicRanking, check_knows_topics, rank_topics


class TopicRanker:
    """Finds the topics of texts among those of a graph or a corpus, whose names are read once."""

    def __init__(
        self,
        run: Run,
        topics: TopicLookup,
        *,
        longest: int = LONGEST,
        letter_case: str | None = None,
        name_rules: Iterable[str] | str | None = None,
        progress: Progress = silent,
    ) -> None:
        check_knows_topics(run)
        options = run.link_options.for_raw_text()
        options = options.changed(letter_case=letter_case, name_rules=name_rules)
        self._run = run
        self._longest = longest
        self._index = TopicIndex.of(collection_of(topics), options, progress=progress)

    def rank(self, text: str, *, limit: int = 10, prior: Prior | None = None) -> TopicRanking:
        """Give the topics that a text may be about, the most probable first."""
        return rank_topics(
            self._run, text, self._index, limit=limit, prior=prior, longest=self._longest
        )

    def find(self, text: str) -> TopicMatch:
        """Give the most probable topic of a text; an error says that there is none."""
        return best_of(self.rank(text, limit=1))


def best_of(ranking: TopicRanking) -> TopicMatch:
    """Give the most probable topic of a ranking; an error says that there is none."""
    if not ranking.considered:
        raise TopicNotFoundError(
            "what is the text about? No name of a topic, nor of anything that is known about one,"
            " occurs in it; name its topic"
        )
    if ranking.best is None:
        raise TopicNotFoundError(
            "what is the text about? Plain words explain it better than any of the"
            f" {ranking.considered} topics that its names may belong to; name its topic"
        )
    return ranking.best
