"""Text: tokens with character offsets, and the vocabulary counted from them."""

from lrlm.text.document import GoldMention, LinkableRelation, LinkedDocument, Mention
from lrlm.text.joining import Joiner
from lrlm.text.tokeniser import Profile, Tokens, detect_profile, split_words, tokenise
from lrlm.text.vocabulary import END, UNKNOWN, Vocabulary

__all__ = [
    "END",
    "UNKNOWN",
    "GoldMention",
    "Joiner",
    "LinkableRelation",
    "LinkedDocument",
    "Mention",
    "Profile",
    "Tokens",
    "Vocabulary",
    "detect_profile",
    "split_words",
    "tokenise",
]
