"""What a model is given beside its text, as one value that a run can carry along."""

from dataclasses import dataclass
from pathlib import Path

from lrlm.artifacts import (
    check_files,
    fingerprints_in,
    new_folder,
    read_manifest,
    write_manifest,
)
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
    """Relation types and objects with their ids and vectors."""
    featuriser: SubwordFeaturiser | None
    """Gives surface forms their vectors; None where they come from the backbone."""
    speller: SpellingModel | None
    """Gives words the probability of their spelling; None where there are no unknown words."""

    def save(self, folder: Path | str) -> None:
        """Write everything to a new folder."""
        with new_folder(Path(folder)) as draft:
            self.relations.save(draft / RELATIONS)
            if self.featuriser is not None:
                self.featuriser.save(draft / FORMS)
            if self.speller is not None:
                self.speller.save(draft / SPELLING)
            # Most folders have vectors of forms and a spelling model, and say nothing of them.
            lack = {"spelling": False} if self.speller is None else {}
            lack |= {"forms": False} if self.featuriser is None else {}
            files = fingerprints_in(draft)
            write_manifest(draft, format=FORMAT, version=VERSION, **lack, files=files)

    @classmethod
    def open(cls, folder: Path | str) -> "Features":
        """Read what `save` wrote; nothing else is needed, wherever the folder was copied to."""
        folder = Path(folder)
        manifest = read_manifest(
            folder, format=FORMAT, version=VERSION, hint="make it again with 'lrlm train'"
        )
        check_files(folder, manifest)
        has_forms, has_speller = manifest.get("forms", True), manifest.get("spelling", True)
        return cls(
            RelationTable.open(folder / RELATIONS),
            SubwordFeaturiser.open(folder / FORMS) if has_forms else None,
            SpellingModel.open(folder / SPELLING) if has_speller else None,
        )
