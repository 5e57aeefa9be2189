"""How text is generated with a model: a topic in tensors, and one choice after another.

B texts are written side by side. In every step each of them gets one token: either it is in the
middle of a form that it copies as a whole, or its model chooses.

Shapes: B rows (texts), X rows that choose, D width of states, R relations of the topic, F forms of
all of them, C contexts in which a form may stand, L tokens of the longest form, W width of form
features, P tokens of the preface, O open relations, K words of names, N names of several words.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lrlm.backbones import State
from lrlm.batching import RelationNames, TopicRelations
from lrlm.heads import Choosing

if TYPE_CHECKING:
    from lrlm.models.name_words import TakenWords
    from lrlm.models.naming import Naming

NO_FORM = -1
"""The form of a token that was not copied."""
ANY_WORD = -1
"""In the place of the number of a word, where it does not matter which it is."""


@dataclass(frozen=True)
class WordsToTake:
    """The words of a topic's names, of which a text may take single ones."""

    words: tuple[str, ...]
    ids_K: Tensor
    """Their tokens; words without an id of their own have that of `<unk>`."""
    numbers_K: Tensor
    """Their ids, or the numbers of unknown words (`EncodedTopic.unknown_words`)."""
    features_KW: Tensor
    """Their vectors, with what is told of them behind."""
    follows_KK: Tensor
    """Whether, in some name, the second word comes right after the first."""
    alone_K: Tensor
    """Which are a whole name."""
    beginnings_NL: Tensor
    """The numbers of the words of each longer name but for its last, the latest in the last column;
    what stands before a shorter one is `ANY_WORD`."""
    completing_N: Tensor
    """Which word completes each of them."""


@dataclass(frozen=True)
class EncodedTopic:
    """What a model reads of the topic that it writes about."""

    types_R: Tensor
    objects_R: Tensor
    names: RelationNames | None
    """The relations as in `lrlm.batching.TopicRelations`; the names are of one row."""
    relation_F: Tensor
    """Which relation a form belongs to, ascending."""
    features_FW: Tensor
    tokens_CFL: Tensor
    """The tokens of each form in each context, padded."""
    length_CF: Tensor
    """How many tokens that are."""
    preface_P: Tensor
    """What is read before a text; its last token stands right before it."""
    start_id: int
    end_id: int
    context_after: Callable[[Tensor], Tensor]
    """Says in which context a form stands right after each of some tokens, or that none can."""
    bound_F: Tensor | None = None
    """Whether what follows a form must begin a new word; None where every token is a word."""
    begins_word_V: Tensor | None = None
    """Which tokens begin a new word; None where every token is a word."""
    words_CFL: Tensor | None = None
    """As `tokens_CFL`, but words of forms that have no id of their own have the numbers that
    `unknown_words` gives them; None where every token has an id."""
    unknown_words: Mapping[str, int] = field(default_factory=dict)
    name_words: WordsToTake | None = None
    """Where the model may take single words of names, and there are any."""
    traits_RJ: Tensor | None = None
    """How each relation stands among those of the topic, where the model reads it."""
    lacking: TopicRelations | None = None
    """Open relations, which may be chosen in place of those of the topic
    (`lrlm.corpora.open_relations`), as one row; None where there are none."""

    @property
    def as_row(self) -> TopicRelations:
        """The relations as those of one row."""
        all_1R = torch.ones_like(self.types_R[None], dtype=torch.bool)
        traits_1RJ = None if self.traits_RJ is None else self.traits_RJ[None]
        return TopicRelations(
            self.types_R[None], self.objects_R[None], all_1R, self.names, traits_BRJ=traits_1RJ
        )

    @property
    def relations(self) -> int:
        """R, the relations that have a form."""
        return len(self.types_R)

    @property
    def forms_RF(self) -> Tensor:
        """Which forms a relation has."""
        numbers_R1 = torch.arange(self.relations, device=self.relation_F.device)[:, None]
        return self.relation_F == numbers_R1


@dataclass(frozen=True)
class Limits:
    """What the rows that choose may do next; in every row there is something."""

    may_end_X: Tensor
    word_X: Tensor
    """Whether a word may be written, the end among them where `may_end_X`."""
    form_XF: Tensor
    """Which forms may be begun."""
    is_free: bool = False
    """Whether every word and every form is allowed, but for the end."""


@dataclass(frozen=True)
class Written:
    """The next token of each row."""

    token_B: Tensor
    """Its id; of a copied word without an id, that of `<unk>`."""
    form_B: Tensor
    """The form it was copied from, or `NO_FORM`."""
    position_B: Tensor
    """Which token of the form; 0 where nothing was copied."""
    context_B: Tensor
    """The context in which the form stands; 0 where nothing was copied."""
    log_prob_B: Tensor
    """Of everything that was chosen for it; a form that is copied whole pays at its first token."""
    word_B: Tensor | None = None
    """The id, or the number of an unknown word that was not copied (`EncodedTopic.words_CFL`); None
    where it need not be known."""
    name_word_B: Tensor | None = None
    """Which word of a name it is, if it was taken from one, else `NO_WORD`; None where none is."""
    log_known_B: Tensor | None = None
    """log P that the choice of a relation is not an open one, 0 where no relation was chosen; the
    relation is one of the topic in any case. None where there are no open ones."""

    def select(self, rows: Tensor) -> "Written":
        """Give the tokens of the rows at these indices."""
        return Written(
            self.token_B[rows],
            self.form_B[rows],
            self.position_B[rows],
            self.context_B[rows],
            self.log_prob_B[rows],
            None if self.word_B is None else self.word_B[rows],
            None if self.name_word_B is None else self.name_word_B[rows],
            None if self.log_known_B is None else self.log_known_B[rows],
        )


@dataclass(frozen=True)
class WritingState:
    """How far B texts are: `h`, what the backbone remembers, and the last token of each."""

    states_BD: Tensor
    state: State
    last: Written
    naming: "Naming | None" = None
    """The names in the texts, where the model reads them."""
    taken: "TakenWords | None" = None
    """The words of names in the texts, where the model may take single ones."""

    def select(self, rows: Tensor) -> "WritingState":
        """Give the rows at these indices; an index may come twice."""
        return WritingState(
            self.states_BD[rows],
            self.state.select(rows),
            self.last.select(rows),
            None if self.naming is None else self.naming.select(rows),
            None if self.taken is None else self.taken.select(rows),
        )

    def after_prompt(self) -> "WritingState":
        """Go on as after a word: no name that is written now reaches back into the prompt."""
        return self if self.naming is None else replace(self, naming=self.naming.after_prompt())


class Writer(ABC):
    """Writes about one topic with one model; everything that stays the same is computed once."""

    topic: EncodedTopic

    uses_relations: bool = True
    """Whether forms can be copied at all."""
    copies_whole_forms: bool = False
    """Whether a form that was begun is copied to its end, without any further choice."""
    knows_names: bool = False
    """Whether it must be told which unknown words were spelled (`Written.word_B`)."""
    chooses_open: bool = False
    """Whether it says how probable open relations are (`Written.log_known_B`)."""

    @abstractmethod
    def begin(self) -> WritingState:
        """Give the state of one text before its first token."""

    @abstractmethod
    def choose(self, so_far: WritingState, limits: Limits, choosing: Choosing) -> Written:
        """Choose the next token of each row; of a form that is copied whole, the first one."""

    @abstractmethod
    def read(self, so_far: WritingState, written: Written) -> WritingState:
        """Go on after a token of each row."""

    reads_at_once: bool = False
    """Whether several tokens that are known already are read faster at once."""

    def read_all(self, so_far: WritingState, steps: Sequence[Written]) -> WritingState:
        """Go on after several tokens of each row."""
        for written in steps:
            so_far = self.read(so_far, written)
        return so_far

    def start_of_text(self) -> Written:
        """Give the token that stands before the first one, as a word."""
        nothing_1 = torch.zeros_like(self.topic.relation_F[:0].new_empty(1))
        log_prob_1 = self.topic.features_FW.new_zeros(1)
        return Written(
            nothing_1 + self.topic.start_id, nothing_1 + NO_FORM, nothing_1, nothing_1, log_prob_1
        )
