"""Import corpora of other projects into the one corpus format."""

from lrlm.corpora.importers.docred import DocRed
from lrlm.corpora.importers.intake import SplitPolicy, import_corpus
from lrlm.corpora.importers.release import import_release
from lrlm.corpora.importers.webnlg import WebNlg
from lrlm.corpora.importers.wikifacts import WikiFacts
from lrlm.corpora.importers.wikitext import WikiText, WikiTextForm

__all__ = [
    "DocRed",
    "SplitPolicy",
    "WebNlg",
    "WikiFacts",
    "WikiText",
    "WikiTextForm",
    "import_corpus",
    "import_release",
]
