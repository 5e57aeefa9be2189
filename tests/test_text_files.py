"""Lines of plain and compressed files, and what is said of the bad ones."""

import bz2
import gzip
import io
import lzma
import struct
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lrlm import text_files
from lrlm.errors import FormatError, InputError, TooManyBadLinesError
from lrlm.knowledge.extract import file_parts
from lrlm.text_files import (
    BadLineError,
    BadLines,
    Compression,
    MeteredStream,
    TextStream,
    beginning_of,
    open_by_content,
    read_records,
    reading,
)


def parse(line: str) -> str:
    if line.startswith("bad"):
        raise BadLineError("it says so")
    return line


def read(path: Path, bad_lines: BadLines | None = None, *, limit: int | None = None) -> list[str]:
    return list(read_records(path, parse, bad_lines or BadLines(), limit=limit))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_files_are_read_by_what_they_are(path: Path, pack: Callable[[bytes], bytes]) -> None:
    path.write_bytes(pack("one\ntwé\r\n\n  \nthree".encode()))
    assert read(path) == ["one", "twé", "three"]


def test_a_mark_of_the_byte_order_is_no_part_of_the_first_line(path: Path) -> None:
    path.write_bytes("\ufeffone\n\ufefftwo\n".encode())
    assert read(path) == ["one", "\ufefftwo"]


def test_lines_end_only_where_lines_end(path: Path) -> None:
    path.write_text("a\u2028b\x0cc\x85d\n", encoding="utf-8", newline="")
    assert read(path) == ["a\u2028b\x0cc\x85d"]


def test_lines_may_cross_the_blocks_that_are_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "_BLOCK", 3)
    lines = ["a", "bcdefgh", "ij", "klm", "nopqrst"]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert read(path) == lines


def test_a_limit_counts_good_lines_and_looks_no_further(path: Path) -> None:
    path.write_text("bad\none\ntwo\nbad\nbad\nbad\n", encoding="utf-8")
    bad_lines = BadLines(0.5)
    assert read(path, bad_lines, limit=2) == ["one", "two"]
    assert bad_lines.count == 1


def test_bad_lines_are_skipped_counted_and_named(path: Path) -> None:
    path.write_text("one\n\nbad 1\ntwo\n" + "x\n" * 20 + "bad 2\n", encoding="utf-8")
    bad_lines = BadLines(0.1)
    assert len(read(path, bad_lines)) == 22
    assert bad_lines.count == 2
    assert bad_lines.examples == [f"{path}:3: it says so", f"{path}:25: it says so"]


def test_too_many_bad_lines_stop_with_the_first_of_the_file(tmp_path: Path) -> None:
    fine, wrong = tmp_path / "fine", tmp_path / "wrong"
    fine.write_text("bad\n" * 6 + "x\n" * 20, encoding="utf-8")
    wrong.write_text("x\nbad\nbad\n", encoding="utf-8")
    bad_lines = BadLines(0.5)
    read(fine, bad_lines)
    told = r"wrong:2: it says so \(2 of 3 lines are bad, more than the allowed 50\.000%\)$"
    with pytest.raises(TooManyBadLinesError, match=told):
        read(wrong, bad_lines)


def test_the_share_of_bad_lines_may_be_used_up_but_not_passed(path: Path) -> None:
    path.write_text("bad\n" + "x\n" * 999, encoding="utf-8")
    assert len(read(path)) == 999
    path.write_text("bad\n" + "x\n" * 998, encoding="utf-8")
    with pytest.raises(FormatError, match="1 of 999"):
        read(path)


def test_a_thousand_bad_lines_are_told_and_one_of_every_file(tmp_path: Path) -> None:
    bad_lines = BadLines(0.9)
    for name in ("a", "b"):
        (tmp_path / name).write_text("bad\n" * 1200 + "x\n" * 1200, encoding="utf-8")
        read(tmp_path / name, bad_lines)
    assert bad_lines.count == 2400
    assert len(bad_lines.examples) == 1001
    assert bad_lines.examples[999] == f"{tmp_path / 'a'}:1000: it says so"
    assert bad_lines.examples[-1] == f"{tmp_path / 'b'}:1: it says so"


def test_bytes_that_are_no_text_are_a_bad_line(path: Path) -> None:
    path.write_bytes(b"one\ntw\xff\n")
    bad_lines = BadLines(0.5)
    assert read(path, bad_lines) == ["one"]
    assert bad_lines.examples == [f"{path}:2: not UTF-8 at byte 3 of the line"]


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(FormatError, match="lines is empty"):
        read(path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_truncated_file_is_refused(path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(b"".join(b"line %d\n" % number for number in range(9999)))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match="damaged or truncated"):
        read(path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_file_is_refused(path: Path, pack: Callable[[bytes], bytes]) -> None:
    packed = bytearray(pack(b"".join(b"line %d\n" % number for number in range(9999))))
    for place in range(len(packed) // 3, len(packed) // 3 + 40):
        packed[place] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(InputError, match="lines"):
        read(path)


def test_a_line_without_end_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LONGEST_LINE", 1 << 20)
    path.write_bytes(b"x\n" + b"y" * (4 << 20))
    with pytest.raises(FormatError, match=r"lines:2: a line of more than 1 MiB"):
        read(path)


def test_a_stream_has_lines_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BufferedReader(io.BytesIO(b"a\r\nb\n\nc"))
    assert list(text_files.stream_lines(stream, Path("pipe"))) == [b"a", b"b", b"", b"c"]
    monkeypatch.setattr(text_files, "LONGEST_LINE", 1 << 10)
    with pytest.raises(FormatError, match=r"pipe:1: a line of more than"):
        list(text_files.stream_lines(io.BytesIO(b"x" * 9999), Path("pipe")))


def test_a_file_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(InputError, match=r"lines: cannot be read \(No such file"):
        read(path)


@pytest.mark.parametrize(
    ("pack", "compression"),
    [
        (bytes, None),
        (gzip.compress, Compression.GZIP),
        (bz2.compress, Compression.BZIP2),
        (lzma.compress, Compression.XZ),
    ],
)
@pytest.mark.parametrize("fast", [True, False])
def test_a_stream_fills_memory_from_any_place(
    path: Path,
    pack: Callable[[bytes], bytes],
    compression: Compression | None,
    fast: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not fast:
        monkeypatch.setitem(sys.modules, "isal", None)
        monkeypatch.setitem(sys.modules, "rapidgzip", None)
    monkeypatch.setattr(text_files, "_STREAM_BLOCK", 7)
    monkeypatch.setattr(text_files, "_SKIP_BLOCK", 5)
    text = bytes(range(256)) * 2
    path.write_bytes(pack(text))
    assert Compression.of(path) is compression
    assert beginning_of(path, 20) == text[:20]
    assert beginning_of(path) == text
    buffer = bytearray(100)
    with TextStream.open(path) as stream:
        assert stream.skip(33) is None
        assert stream.fill(memoryview(buffer)) == (100, None)
        assert buffer == text[33:133]
        assert stream.fill(memoryview(bytearray(1000))) == (512 - 133, None)
        assert stream.position() == path.stat().st_size
        assert stream.fill(memoryview(buffer)) == (0, None)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("fast", [True, False])
def test_a_stream_tells_how_far_a_truncated_file_is_whole(
    path: Path, pack: Callable[[bytes], bytes], fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fast:
        monkeypatch.setitem(sys.modules, "isal", None)
        monkeypatch.setitem(sys.modules, "rapidgzip", None)
    packed = pack(b"".join(b"line %d\n" % number for number in range(9999)))
    path.write_bytes(packed[: len(packed) // 2])
    buffer = bytearray(1 << 20)
    with TextStream.open(path) as stream:
        filled, damage = stream.fill(memoryview(buffer))
    assert filled < 100_000
    assert damage
    with TextStream.open(path) as stream:
        assert stream.skip(1 << 20)
    with pytest.raises(FormatError, match=r"lines:1: damaged or truncated \("):
        beginning_of(path, 1 << 20)


def test_a_stream_of_a_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(InputError, match=r"lines: cannot be read \(No such file"):
        TextStream.open(path)


class OddError(Exception):
    """None of what readers throw."""


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (zipfile.BadZipFile("bad magic"), "a.bin: not a thing, or damaged (bad magic)"),
        (RuntimeError("password required"), "a.bin: not a thing, or damaged (password required)"),
        (NotImplementedError(), "a.bin: not a thing, or damaged (NotImplementedError)"),
        (LookupError("unknown encoding"), "a.bin: not a thing, or damaged (unknown encoding)"),
        (OverflowError("too\nlarge"), "a.bin: not a thing, or damaged (too large)"),
        (EOFError("the end"), "a.bin: damaged or truncated (the end)"),
        (struct.error("short"), "a.bin: not a thing, or damaged (short)"),
        (ValueError("x" * 5000), f"a.bin: not a thing, or damaged ({'x' * 200}…)"),
        (MemoryError(), "a.bin: asks for more memory than there is"),
        (RecursionError(), "a.bin: nested too deep"),
        (OSError(5, "Input/output error"), "a.bin: cannot be read (Input/output error)"),
    ],
)
def test_whatever_a_reader_throws_names_the_file(error: Exception, text: str) -> None:
    with pytest.raises(FormatError) as caught, reading("a.bin", "a thing"):
        raise error
    assert str(caught.value) == text
    assert caught.value.__cause__ is error


def test_errors_of_the_library_and_of_others_pass() -> None:
    with pytest.raises(InputError, match="own words"), reading("a.bin"):
        raise InputError("own words")
    with pytest.raises(OddError), reading("a.bin"):
        raise OddError


def test_what_expands_beyond_measure_is_stopped(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "ALWAYS_ALLOWED", 1000)
    path.write_bytes(gzip.compress(b"\0" * 1_000_000))
    allowed = 1000 + 200 * path.stat().st_size
    with open_by_content(path) as raw:
        stream = MeteredStream(raw, path)
        assert len(stream.read(allowed)) == allowed
        with pytest.raises(FormatError, match="expands to more than 200 times its size"):
            stream.read(1)


def lines_of_nothing(kind: str, count: int) -> bytes:
    """Compress so many empty lines."""
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress
    }  # fmt: skip
    return pack[kind](b"one\n" + b"\n" * count)


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz"])
def test_a_small_file_cannot_hold_lines_without_end(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "ALWAYS_ALLOWED_LINES", 100_000)
    path.write_bytes(lines_of_nothing(kind, 90_000))
    assert read(path) == ["one"]
    path.write_bytes(lines_of_nothing(kind, 500_000))
    with pytest.raises(FormatError, match="lines: expands to more lines than data have"):
        read(path)
    with pytest.raises(FormatError, match="lines: expands to more lines than data have"):
        list(file_parts(path))
    path.write_bytes(b"one\n" + b"\n" * 200_000)
    assert read(path) == ["one"]


def test_a_file_of_bad_lines_is_given_up_early(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LINES_BEFORE_GIVING_UP", 100)
    path.write_text("x\n" * 50 + "bad\n" * 1000, encoding="utf-8")
    with pytest.raises(TooManyBadLinesError, match="50 of 100 lines"):
        read(path)


def test_damage_is_told_by_the_fast_reader_too(path: Path) -> None:
    pytest.importorskip("isal")
    packed = bytearray(gzip.compress(b"".join(b"line %d\n" % number for number in range(999))))
    for place in range(20, len(packed) - 8, 7):
        changed = bytearray(packed)
        changed[place] ^= 0x55
        path.write_bytes(changed)
        with suppress(FormatError):
            beginning_of(path, 1 << 20)
