"""A linked document in, mentions that are claimed without any model out: the baselines of gold."""

from collections.abc import Sequence

from lrlm.corpora import LinkedDocument, Mention
from lrlm.evaluation.gold import (
    Claim,
    GoldMentions,
    Tally,
    gold_mentions,
    mentions_without_fact,
)


def every_candidate(document: LinkedDocument) -> list[Claim]:
    """Claim every candidate; spans may overlap, and a span may be claimed for several relations."""
    return list(dict.fromkeys(claim_of(document, mention) for mention in document.mentions))


def longest_match(document: LinkedDocument) -> list[Claim]:
    """Go from left to right and claim the longest candidate that starts at a token.

    Of candidates with the same span, the relation that comes first is claimed; the topic's own
    name is the first of all.
    """
    claims = []
    boundary = 0
    for mention in sorted(document.mentions, key=lambda m: (m.start, -m.end, m.relation)):
        if mention.start >= boundary:
            claims.append(claim_of(document, mention))
            boundary = mention.end
    return claims


def claim_of(document: LinkedDocument, mention: Mention) -> Claim:
    """Say which relation a candidate would be copied through."""
    relation = document.relations[mention.relation]
    return Claim(mention.start, mention.end, relation.type, relation.object)


def match_strings(documents: Sequence[LinkedDocument]) -> GoldMentions:
    """Judge both baselines on the documents whose gold mentions are known."""
    annotated = [document for document in documents if document.gold is not None]
    total = gold_mentions(annotated)
    every, longest = Tally(total), Tally(total)
    for document in annotated:
        for tally, claims in (
            (every, every_candidate(document)),
            (longest, longest_match(document)),
        ):
            tally.add(dict.fromkeys(claims, 1.0), document.gold or ())
    return GoldMentions(
        documents=len(annotated),
        mentions=total,
        without_fact=mentions_without_fact(annotated),
        every_candidate=every.counts(),
        longest_match=longest.counts(),
    )
