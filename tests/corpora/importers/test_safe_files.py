"""Archives and XML from strangers: read as streams and elements, or refused as a whole."""

import gzip
import tarfile
from pathlib import Path

import pytest

from lrlm.corpora.importers import safe_files
from lrlm.corpora.importers.safe_files import elements, files_in
from lrlm.errors import FormatError, InputError
from tests.bounded import outcomes
from tests.generators.archives import link, pack
from tests.generators.hostile_files import tars, xml_files

FILES = {"data/a.txt": b"one", "data/b.txt": b"two" * 1000}


def read_archive(path: Path) -> dict[str, bytes]:
    return {str(name): stream.read() for name, stream in files_in(path)}


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2"])
def test_files_come_in_order(tmp_path: Path, suffix: str) -> None:
    assert read_archive(pack(tmp_path / f"a.{suffix}", FILES)) == FILES


def test_files_need_not_be_read(tmp_path: Path) -> None:
    assert [str(name) for name, _ in files_in(pack(tmp_path / "a.tar.gz", FILES))] == list(FILES)


def test_a_folder_is_read_as_its_archive(tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert read_archive(tmp_path) == FILES


@pytest.mark.parametrize("name", ["../escape", "/etc/escape", "a/../../escape", "a\\..\\escape"])
def test_paths_out_of_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match="out of its folder"):
        read_archive(pack(tmp_path / "a.tar", {**FILES, name: b"x"}))
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "no file and no folder"),
        (tarfile.FIFOTYPE, "no file and no folder"),
    ],
)
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        read_archive(pack(tmp_path / "a.tar", FILES, link("data/odd", kind)))


@pytest.mark.parametrize("bound", ["LARGEST_FILE", "LARGEST_ARCHIVE"])
def test_sizes_are_bounded(tmp_path: Path, bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_files, bound, 2999)
    with pytest.raises(FormatError, match=r"b\.txt is too large"):
        read_archive(pack(tmp_path / "a.tar.bz2", FILES))


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2"])
def test_truncated_archives_are_refused(tmp_path: Path, suffix: str) -> None:
    path = pack(tmp_path / f"a.{suffix}", FILES)
    content = path.read_bytes()
    path.write_bytes(content[: 2500 if suffix == "tar" else len(content) - 12])
    with pytest.raises(FormatError, match=r"damaged|truncated"):
        read_archive(path)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_text("only text")
    with pytest.raises(FormatError, match="not a tar"):
        read_archive(tmp_path / "a.tar")
    with pytest.raises(InputError, match="no such file or folder"):
        read_archive(tmp_path / "b.tar")


def test_hostile_archives_are_refused_within_bounds() -> None:
    harmless = {"size-of-5000-digits", "odd-size"}  # read as empty files
    told = dict(outcomes("archives", tars()))
    assert {name for name, text in told.items() if not text} == harmless
    assert "what it says of one file takes more than 1 MiB" in told["long-name"]
    assert "holds a sparse file, 'train.pkl'" in told["sparse"]
    assert "expands to more than 200 times its size" in told["zeros"]


def test_the_count_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {str(number): b"" for number in range(30)}
    assert read_archive(pack(tmp_path / "a.tar", files)) == files
    monkeypatch.setattr(safe_files, "MOST_FILES", 29)
    with pytest.raises(FormatError, match="more than 29 files"):
        read_archive(tmp_path / "a.tar")


def test_names_in_messages_are_short_and_printable(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        read_archive(pack(tmp_path / "a.tar", {"../" + "\x1b[31m" * 1000: b"x"}))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_headers_are_not_counted_as_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_files, "LARGEST_HEADERS", 1 << 14)
    files = {f"{'d' * 200}/{number}": b"x" * 50_000 for number in range(20)}
    assert read_archive(pack(tmp_path / "a.tar.gz", files)) == files
    assert len(list(files_in(tmp_path / "a.tar.gz"))) == 20


# XML


def test_hostile_xml_is_refused_within_bounds() -> None:
    harmless = {"encoding-unicode_escape", "encoding-raw_unicode_escape"}
    told = dict(outcomes("XML", xml_files()))
    assert {name for name, text in told.items() if not text} == harmless
    assert told["encoding-foo"].endswith("encoding-foo:1: not XML in an encoding that is read")
    assert "a tag or a comment of more than 1 MiB" in told["long-attribute"]


def read_xml(tmp_path: Path, text: str | bytes) -> list[tuple[str | None, str]]:
    path = tmp_path / "a.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(each.get("id"), "".join(each.itertext())) for each in elements(path, "entry")]


def test_elements_come_in_order(tmp_path: Path) -> None:
    text = (
        "<a>\n<b><entry id='1'>x <i>y</i> z</entry></b>no<entry id='2'>&lt;&#228;&amp;</entry></a>"
    )
    assert read_xml(tmp_path, text) == [("1", "x y z"), ("2", "<ä&")]
    assert read_xml(tmp_path, gzip.compress(text.encode())) == [("1", "x y z"), ("2", "<ä&")]


def test_long_files_are_read_in_blocks(tmp_path: Path) -> None:
    entries = "".join(f"<entry id='{n}'>{'ü' * 50}</entry>" for n in range(3000))
    found = read_xml(tmp_path, f"<a>{entries}</a>")
    assert len(found) == 3000
    assert found[-1] == ("2999", "ü" * 50)


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE a [<!ENTITY b "boom"><!ENTITY c "&b;&b;&b;&b;">]>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://localhost/x"> %b;]>',
        '<!DOCTYPE a SYSTEM "http://localhost/a.dtd">',
        "<!DOCTYPE a>",
    ],
)
def test_document_types_and_entities_are_refused(tmp_path: Path, head: str) -> None:
    with pytest.raises(FormatError, match=r"a\.xml:2: declares a document type or entities"):
        read_xml(tmp_path, f"<?xml version='1.0'?>\n{head}\n<a><entry>&b;</entry></a>")


@pytest.mark.parametrize("text", ["<a><entry>&b;</entry></a>", "<a><entry></a>", "", "text", "<a>"])
def test_what_is_not_xml_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError, match=r"a\.xml:1: not XML"):
        read_xml(tmp_path, text)


def test_depth_and_size_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match="more than 50 deep"):
        read_xml(tmp_path, "<a>" * 60 + "</a>" * 60)
    monkeypatch.setattr(safe_files, "LARGEST_ELEMENT", 1 << 10)
    with pytest.raises(FormatError, match="one <entry> of more than"):
        read_xml(tmp_path, f"<a><entry>{'x' * 2000}</entry></a>")
