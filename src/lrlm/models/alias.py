"""Alias LM: a vanilla LM that first reads the forms of the topic's objects found in the text."""

from lrlm.backbones import State
from lrlm.batching import Window
from lrlm.models.vanilla import VanillaLM


class AliasLM(VanillaLM):
    """Knows which names will come, but not how they are related to the topic.

    The forms are read before the text and are not scored. Which of them occur in the text is told
    in advance, as in the paper's published version: this baseline sees more than the others.
    """

    def begin(self, window: Window) -> State:
        """Read the aliases of each document, one form after the other."""
        state: State
        _, state = self.backbone(
            self.embedding(window.aliases_BP), window.alias_lengths_B, super().begin(window)
        )
        return state
