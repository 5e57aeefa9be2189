"""Make a small copy of a run to share: only what is needed to use the model, in 16 bits."""

import shutil
from pathlib import Path

from safetensors.torch import load_file

from lrlm.artifacts import (
    MANIFEST,
    AnyPath,
    fingerprints_in,
    new_folder,
    rewrite_manifests,
    write_manifest,
)
from lrlm.corpora.corpus import Corpus
from lrlm.errors import InputError
from lrlm.features import Features, RelationTable, TripleTable
from lrlm.features.features import RELATIONS
from lrlm.runs.run import BACKBONE, CHECKPOINTS, FEATURES, METRICS, SCHEMA, Run
from lrlm.tensor_files import write_tensors

_NOT_PACKED = (MANIFEST, CHECKPOINTS, METRICS, "tensorboard", ".lock")


def pack(
    run: AnyPath,
    out: AnyPath,
    *,
    with_backbone: bool = False,
    beside: AnyPath | None = None,
    overwrite: bool = False,
) -> Run:
    """Copy a run without its checkpoints, with every number rounded to 16 bits.

    A run on a pretrained language model names that by where it lies and by its content; with
    `with_backbone` its files are copied along, as they are. A copy that is used `beside` a corpus
    is smaller: it does without what is usual for types of facts, which the corpus tells, and
    without vectors of what does not stand in the corpus's facts.

    The rounded spelling model gives other probabilities to the words of the vocabulary, so the
    share of all others is worked out anew: the probabilities of all texts still sum to one.
    """
    whole = Run.open(run)
    corpus = None if beside is None else Corpus.open(Path(beside))
    with new_folder(Path(out), overwrite=overwrite) as draft:
        for path in sorted(whole.folder.iterdir()):
            if path.name in _NOT_PACKED or path.name.startswith("."):
                continue
            if path.name == BACKBONE:
                continue
            if path.is_dir():
                shutil.copytree(path, draft / path.name)
            else:
                shutil.copyfile(path, draft / path.name)
        if corpus is not None:
            (draft / SCHEMA).unlink(missing_ok=True)
            _leave_objects_of(corpus, draft / FEATURES / RELATIONS)
        for path in sorted(draft.rglob("*.safetensors")):
            tensors = load_file(path)
            path.unlink()  # the file may still be mapped: it is replaced, not written over
            write_tensors(path, {name: tensor.half() for name, tensor in tensors.items()})
        rewrite_manifests(draft)
        if with_backbone:
            _copy_backbone(whole, draft / BACKBONE)
        manifest = dict(whole.setup.manifest)
        rounded = Features.open(draft / FEATURES)
        manifest |= whole.config.vocabulary.manifest_entries(whole.space, rounded)
        if "counts" in manifest:
            objects = len(rounded.relations.objects)
            manifest["counts"] = manifest["counts"] | {"objects": objects}
        write_manifest(draft, **{**manifest, "files": fingerprints_in(draft)})
    return Run.open(out)


def _leave_objects_of(corpus: Corpus, folder: Path) -> None:
    """Take out the vectors of all that is neither a topic nor an object in the corpus."""
    table = RelationTable.open(folder).only_objects(set(TripleTable.of(corpus).nodes))
    shutil.rmtree(folder)
    table.save(folder)


def _copy_backbone(run: Run, folder: Path) -> None:
    """Copy the files of a pretrained language model."""
    paths = run.config.model.backbone.file_paths()
    if not paths:
        raise InputError(
            f"{run.folder} is not on a pretrained language model: all it needs is packed anyway"
        )
    folder.mkdir()
    for path in paths:
        shutil.copyfile(path, folder / path.name)
