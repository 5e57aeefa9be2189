"""Make a small copy of a run to share: only what is needed to use the model, in 16 bits."""

import shutil
from pathlib import Path

from safetensors.torch import load_file

from lrlm.artifacts import MANIFEST, AnyPath, new_folder, write_manifest
from lrlm.features import Features
from lrlm.runs.run import CHECKPOINTS, FEATURES, METRICS, Run
from lrlm.tensor_files import write_tensors

_NOT_PACKED = (MANIFEST, CHECKPOINTS, METRICS, "tensorboard", ".lock")


def pack(run: AnyPath, out: AnyPath, *, overwrite: bool = False) -> Run:
    """Copy a run without its checkpoints, with every number rounded to 16 bits.

    The rounded spelling model gives other probabilities to the words of the vocabulary, so the
    share of all others is worked out anew: the probabilities of all texts still sum to one.
    """
    whole = Run.open(run)
    with new_folder(Path(out), overwrite=overwrite) as draft:
        for path in sorted(whole.folder.iterdir()):
            if path.name in _NOT_PACKED or path.name.startswith("."):
                continue
            if path.is_dir():
                shutil.copytree(path, draft / path.name)
            else:
                shutil.copyfile(path, draft / path.name)
        for path in sorted(draft.rglob("*.safetensors")):
            tensors = load_file(path)
            path.unlink()  # the file may still be mapped: it is replaced, not written over
            write_tensors(path, {name: tensor.half() for name, tensor in tensors.items()})
        manifest = dict(whole.setup.manifest)
        rounded = Features.open(draft / FEATURES)
        manifest |= whole.config.vocabulary.manifest_entries(whole.space, rounded)
        write_manifest(draft, **manifest)
    return Run.open(out)
