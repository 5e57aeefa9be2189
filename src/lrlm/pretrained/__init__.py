"""Pretrained language models on disk: their files are found, checked and loaded."""

from lrlm.pretrained.finding import PretrainedFiles, find_pretrained
from lrlm.pretrained.loading import quietly, require_extra, trying

__all__ = ["PretrainedFiles", "find_pretrained", "quietly", "require_extra", "trying"]
