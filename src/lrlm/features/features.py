"""What a model is given beside the text, as one value that a run can carry along."""

from dataclasses import dataclass
from pathlib import Path

from lrlm.artifacts import new_folder, read_manifest, write_manifest
from lrlm.features.form_vectors import SubwordFeaturiser
from lrlm.features.relation_vectors import RelationTable
from lrlm.features.spelling import SpellingModel

FORMAT = "lrlm features"
VERSION = 1
RELATIONS, FORMS, SPELLING = "relations", "forms", "spelling"


@dataclass(frozen=True)
class Features:
    """Vectors of relations, vectors of forms, and the spelling of unknown words; all frozen."""

    relations: RelationTable
    """Type and object ids for the encoder, and their vectors."""
    featuriser: SubwordFeaturiser
    """Forms to vectors, for the collator."""
    speller: SpellingModel
    """Words to log-probabilities, for the encoder."""

    def save(self, folder: Path) -> None:
        """Write everything to a new folder."""
        with new_folder(folder) as draft:
            self.relations.save(draft / RELATIONS)
            self.featuriser.save(draft / FORMS)
            self.speller.save(draft / SPELLING)
            write_manifest(draft, format=FORMAT, version=VERSION)

    @classmethod
    def load(cls, folder: Path) -> "Features":
        """Read what `save` wrote; nothing else is needed, wherever the folder was copied to."""
        read_manifest(
            folder, format=FORMAT, version=VERSION, hint="make it again with 'lrlm train'"
        )
        return cls(
            RelationTable.load(folder / RELATIONS),
            SubwordFeaturiser.load(folder / FORMS),
            SpellingModel.load(folder / SPELLING),
        )
