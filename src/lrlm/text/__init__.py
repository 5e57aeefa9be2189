"""Text: words with character offsets, linked documents, and what a model takes for a token."""

from lrlm.text.document import GoldMention, LinkableRelation, LinkedDocument, Mention
from lrlm.text.forms import SurfaceForm, surface_forms
from lrlm.text.joining import Joiner
from lrlm.text.token_space import (
    NO_FORM_HERE,
    NO_MENTION,
    EncodedText,
    GrowingText,
    Speller,
    TokenPlaces,
    TokenSpace,
    WordSpan,
    bits_per_byte,
    perplexity_per_word,
    word_span,
)
from lrlm.text.tokeniser import Profile, Tokens, detect_profile, split_words, tokenise
from lrlm.text.vocabulary import END, UNKNOWN, Vocabulary

__all__ = [
    "END",
    "NO_FORM_HERE",
    "NO_MENTION",
    "UNKNOWN",
    "EncodedText",
    "GoldMention",
    "GrowingText",
    "Joiner",
    "LinkableRelation",
    "LinkedDocument",
    "Mention",
    "Profile",
    "Speller",
    "SurfaceForm",
    "TokenPlaces",
    "TokenSpace",
    "Tokens",
    "Vocabulary",
    "WordSpan",
    "bits_per_byte",
    "detect_profile",
    "perplexity_per_word",
    "split_words",
    "surface_forms",
    "tokenise",
    "word_span",
]
