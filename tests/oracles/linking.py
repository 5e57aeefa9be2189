"""Linking, the slow and obvious way: every span of the text against every form."""

from collections.abc import Sequence

from lrlm.text.document import LinkableRelation, Mention


def find(relations: Sequence[LinkableRelation], words: Sequence[str]) -> list[Mention]:
    """Compare all spans `[start, end)` with all forms of all relations."""
    return [
        Mention(start, end, relation_index, form_index)
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
        for relation_index, relation in enumerate(relations)
        for form_index, form in enumerate(relation.forms)
        if list(words[start:end]) == list(form)
    ]
