"""Say which names stand in a text before a place: how often, and how long ago.

A name counts where it stands in the text, whether it was copied or written word by word, so what is
said here is known from the text alone and is the same for all ways to cut it into segments.

Shapes: E candidate edges, M places where a name of a relation is known to stand, T places, R
relations, F forms.
"""

from dataclasses import dataclass

import numpy as np

from lrlm.arrays import Booleans, Integers

NEVER = -1
"""The last place of what does not stand in a text."""


@dataclass(frozen=True, slots=True)
class NamePlaces:
    """Where names of a topic's objects stand in a text, each at the first place that knows of it.

    A place is before a token and knows all tokens before it. A name that must be followed by a new
    word is known one token later: before, it might still become another word.
    """

    known_M: Integers
    """The first place that knows of a name, ascending."""
    relation_M: Integers
    """The relation whose object has the name; two names that end together count once."""
    forms_M: Integers
    """The form and the place of every name of a form as one number, `form * stride + place`,
    ascending."""
    stride: int

    @classmethod
    def of(
        cls, edges_E4: Integers, bound_E: Booleans | None, forms_R: Integers, tokens: int
    ) -> "NamePlaces":
        """Find them among a text's candidates; `forms_R` counts the forms of each relation."""
        _, end_E, relation_E, form_E = edges_E4.T
        known_E = end_E if bound_E is None else end_E + bound_E
        relations = max(len(forms_R), 1)
        stride = tokens + 2
        by_place_M = np.unique(known_E * relations + relation_E)
        return cls(
            known_M=by_place_M // relations,
            relation_M=by_place_M % relations,
            forms_M=np.unique((first_forms(forms_R)[relation_E] + form_E) * stride + known_E),
            stride=stride,
        )

    def relations_at(self, start: int, end: int, relations: int) -> tuple[Integers, Integers]:
        """Say how often each relation was named before the places `[start, end)`, and since when.

        Both are (T, R); since when is 0 at the place that first knows of a name, and wherever there
        is none.
        """
        times_TR = np.zeros((end - start, relations), dtype=np.int64)
        last_TR = np.full_like(times_TR, NEVER)
        here = self.known_M < end
        place_M = np.maximum(self.known_M[here] - start, 0)
        relation_M = self.relation_M[here]
        np.add.at(times_TR, (place_M, relation_M), 1)
        np.maximum.at(last_TR, (place_M, relation_M), self.known_M[here])
        times_TR = times_TR.cumsum(0)
        last_TR = np.maximum.accumulate(last_TR, axis=0)
        since_TR = np.arange(start, end)[:, None] - last_TR
        return times_TR, np.where(times_TR > 0, since_TR, 0)

    def forms_at(self, form_F: Integers, place_F: Integers) -> tuple[Integers, Integers]:
        """Do the same for single forms, each before a place of its own: (F,), (F,)."""
        low_F = form_F * self.stride
        up_to_F = np.searchsorted(self.forms_M, low_F + place_F, side="right")
        times_F = up_to_F - np.searchsorted(self.forms_M, low_F)
        if not len(self.forms_M):
            return times_F, np.zeros_like(times_F)
        last_F = self.forms_M[np.maximum(up_to_F - 1, 0)] - low_F
        return times_F, np.where(times_F > 0, place_F - last_F, 0)


def first_forms(forms_R: Integers) -> Integers:
    """Give the number of each relation's first form where the forms of all are counted."""
    first_R: Integers = np.cumsum(forms_R) - forms_R
    return first_R
