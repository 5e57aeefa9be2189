"""A run and a topic's relations in, what the run's model reads of them before it writes out."""

import numpy as np
import torch

from lrlm.arrays import Floats, Integers
from lrlm.corpora import LinkableRelation, LinkedDocument
from lrlm.models.writing import Star
from lrlm.text import Tokens
from lrlm.training.run import Run


def star_of(run: Run, relations: tuple[LinkableRelation, ...]) -> Star:
    """Encode a topic's relations and all their forms."""
    nothing = Tokens([], [], [])
    document = LinkedDocument("", "", "", "", nothing, relations, ())
    (encoded,) = run.encoder.encode([document])
    parameter = next(run.model.parameters())
    forms = [form for relation in relations for form in relation.forms]
    length_F = np.array([len(form) for form in forms], dtype=np.int64)
    words_FL = np.zeros((len(forms), length_F.max(initial=1)), dtype=np.int64)
    for row, form in enumerate(forms):
        words_FL[row, : len(form)] = run.vocabulary.encode(form)
    counts_R = [len(relation.forms) for relation in relations]

    def here(numbers: Integers | Floats) -> torch.Tensor:
        return torch.from_numpy(numbers).to(parameter.device)

    return Star(
        types_R=here(encoded.types_R),
        objects_R=here(encoded.objects_R),
        relation_F=here(np.repeat(np.arange(len(relations)), counts_R)),
        features_FW=here(run.features.featuriser.vectors(forms)).to(parameter.dtype),
        length_F=here(length_F),
        words_FL=here(words_FL),
        aliases_P=here(_canonical(run, relations)),
        end_id=run.vocabulary.end_id,
    )


def _canonical(run: Run, relations: tuple[LinkableRelation, ...]) -> Integers:
    """List the words of the first form of every object, each form once and ended by `</s>`."""
    ids: list[int] = []
    for form in dict.fromkeys(relation.forms[0] for relation in relations):
        ids += [*run.vocabulary.encode(form), run.vocabulary.end_id]
    return np.array(ids, dtype=np.int64)
