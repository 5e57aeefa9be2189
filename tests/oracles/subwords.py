"""Where forms may have been copied among subword tokens: every form, context and place is tried."""

import re
import unicodedata

from lrlm.text import LinkableRelation, SurfaceForm
from lrlm.text.subword_space import SubwordSpace, written
from lrlm.text.tokeniser import is_unspaced

_JOINED = re.compile(r"(\s|[(\[{“‘«]|[\s(\[{“‘«][\"'])\Z")
_WITHOUT_SPACES = "CJK|HIRAGANA|KATAKANA|HALFWIDTH KATAKANA|THAI|LAO|KHMER|MYANMAR"


def context_after(data: bytes) -> int:
    """-1 no form, 1 without a space, 2 with one."""
    text = data.decode("utf-8", "replace")
    if text == " ":
        return -1
    is_wide = is_unspaced(text[-1:]) or text[-1:] in tuple(
        "、。，．！？：；「」『』（）《》〈〉【】・"
    )
    return 1 if _JOINED.search(text) or is_wide else 2


def begins_word(data: bytes) -> bool:
    for length in (1, 2, 3, 4):
        try:
            character = data[:length].decode()
        except UnicodeDecodeError:
            continue
        if not character:
            return False
        is_letter = unicodedata.category(character).startswith("L")
        if is_letter:
            return re.match(_WITHOUT_SPACES, unicodedata.name(character, "")) is not None
        return character.isspace() or unicodedata.category(character)[0] in "PSZ"
    return data[0] >= 0xE2


def edges(
    space: SubwordSpace, ids: list[int], relations: tuple[LinkableRelation, ...]
) -> list[tuple[int, int, int, int, bool]]:
    """Start, end, relation, form, and whether what follows has to begin a word."""
    bytes_V, found = space.tokenizer.bytes_V, []
    for number, relation in enumerate(relations):
        for place, form in enumerate(zip(relation.forms, relation.texts, strict=True)):
            writing = written(SurfaceForm(*form))
            for context, before, space_ in ((0, "", ""), (1, "\n", ""), (2, "a", " ")):
                alone = space.encode_text(before)
                tokens = space.encode_text(before + space_ + writing)[len(alone) :]
                bound = context_after(bytes_V[tokens[-1]]) == 2
                for start in range(len(ids) - len(tokens) + 1):
                    end = start + len(tokens)
                    here = context_after(bytes_V[ids[start - 1]]) if start else 0
                    follows = end == len(ids) or begins_word(bytes_V[ids[end]])
                    if ids[start:end] == tokens and here == context and (follows or not bound):
                        found.append((start, end, number, place, bound))
    return sorted(found)
