"""How probable each statement of a text is, from plain lists and by listing every segmentation."""

import math
from collections.abc import Mapping

from lrlm.checking.calibration import Calibration
from lrlm.knowledge.schema import Schema, kind_of_name
from lrlm.models import ScoredDocument
from lrlm.text import LinkedDocument, TokenPlaces
from tests.oracles import lattice as oracle

Key = tuple[int, int, str, str | None]
"""Start and end in tokens, the type, and the object of a known fact."""


def statements(
    document: LinkedDocument,
    places: TokenPlaces,
    scored: ScoredDocument,
    schema: Schema,
    calibration: Calibration,
) -> Mapping[Key, float]:
    """Weigh every candidate of an open relation, list all segmentations, and add up."""
    edges, keys = [], {}
    for number, (start, end, relation_number, _) in enumerate(scored.encoded.edges_E4.tolist()):
        relation = document.relations[relation_number]
        score = float(scored.score_E[number])
        begin, stop = places.starts[start], places.ends[end - 1]
        name = document.text[begin:stop]
        if relation.is_open:
            known = schema.types.get(relation.type)
            before = document.text[:begin].rstrip()
            begins = before == "" or before[-1] in ".!?"
            doubtful = begins and " " not in name and name[0].isupper() and name not in schema.names
            odds = calibration.log_odds + (calibration.doubt if doubtful else 0.0)
            odds -= calibration.spelling * float(sum(scored.encoded.spelling_N[start:end]))
            if known is None:
                share = 0.5 * math.exp(-odds)
            else:
                total = known.facts + known.objects
                share = max(known.share(kind_of_name(name)), 1e-3) * math.exp(-odds)
                share *= known.objects / total
                share *= max(likeness(name, relation.type, schema), 1e-3)
                if name in schema.names:
                    share += schema.names[name].types.get(relation.type, 0) / total
            score += math.log(share)
        edges.append(oracle.Edge(start, end, number, score))
        keys[number] = (start, end, relation.type, None if relation.is_open else relation.object)
    row = oracle.Row(scored.words_N().tolist(), edges)
    sums: dict[Key, float] = {}
    for (_, _, edge), share in oracle.posterior(row).items():
        if edge is not None:
            sums[keys[edge]] = sums.get(keys[edge], 0.0) + share
    return sums


def likeness(name: str, type_: str, schema: Schema) -> float:
    """Say how many of the names of a known name's types are names of another type, on average."""
    types = schema.names[name].types if name in schema.names else {}
    if not types or type_ not in schema.types:
        return 1.0
    shares = []
    for own, count in types.items():
        names = [each for each in schema.names.values() if own in each.types]
        shares += count * [sum(type_ in each.types for each in names) / len(names)]
    return sum(shares) / len(shares)
