"""Makes small files that ask for much: for memory, time, or a crash of whoever reads them."""

import gzip
import io
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import torch

_MANY = 1_000_000
_FEWER = 200_000
_DOUBLED = b"q\x00h\x00\x86" * 34
"""Remember the top of the stack, take it once more, make a pair: 34 times."""


def pickles() -> Iterator[tuple[str, bytes]]:
    """Make pickles that no reader should follow to their end."""
    deep_tuple = b")" + b"\x85" * _MANY
    deep_list = b"]" * _FEWER + b"a" * (_FEWER - 1)
    doubled_set = b")" + b"q\x000(h\x00h\x00\x85\x91" * 34
    wide_tuple = b"(" + b"N" * 100_000 + b"t" + b"q\x00(" + b"h\x00" * 100_000 + b"t"
    yield "deep-tuple-as-key", b"\x80\x04}" + deep_tuple + b"K\x01s."
    yield "deep-tuple", b"\x80\x04" + deep_tuple + b"."
    yield "deep-tuple-in-set", b"\x80\x04\x8f(" + deep_tuple + b"\x90."
    yield "doubled-tuple-as-key", b"\x80\x04})" + _DOUBLED + b"K\x01s."
    yield "doubled-tuple-in-set", b"\x80\x04\x8f()" + _DOUBLED + b"\x90."
    yield "doubled-tuple-as-value", b"\x80\x04}K\x01)" + _DOUBLED + b"s."
    yield "doubled-text", b"\x80\x04}K\x01\x8c\x04text" + _DOUBLED + b"s."
    yield "doubled-list", b"\x80\x04]" + b"q\x00]h\x00ah\x00a" * 34 + b"."
    yield "wide-tuple", b"\x80\x04" + wide_tuple + b"."
    yield "wide-tuple-as-key", b"\x80\x04}" + wide_tuple + b"Ns."
    yield "doubled-set-as-key", b"\x80\x04}" + doubled_set + b"K\x01s."
    yield "doubled-set", b"\x80\x04" + doubled_set + b"."
    yield "deep-set", b"\x80\x04)" + b"q\x000(h\x00\x91" * 200_000 + b"."
    yield "deep-list", b"\x80\x04" + deep_list + b"."
    yield "deep-list-as-class", b"\x80\x04" + deep_list + b"\x8c\x01a\x93."
    yield "deep-class", b"\x80\x04\x8c\x02os" + deep_tuple + b"\x93."
    yield "long-class", b"c" + b"a" * _MANY + b"\nb\n."
    yield "deep-dictionary", b"\x80\x04" + b"}K\x01" * _FEWER + b"}" + b"s" * _FEWER + b"."
    yield "contains-itself", b"\x80\x04]q\x00h\x00a."
    yield "contains-itself-twice", b"\x80\x04]q\x00h\x00\x85a."
    yield "changed-when-finished", b"\x80\x04]q\x00]h\x00a0h\x00K\x01a."
    yield "huge-integer", b"\x80\x04\x8b" + struct.pack("<i", _MANY) + b"\x7f" * _MANY + b"."
    yield "integer-of-5000-digits", b"I" + b"9" * 5000 + b"\n."
    yield "long-of-5000-digits", b"L" + b"9" * 5000 + b"L\n."
    yield "not-a-number", b"F" + b"x" * _MANY + b"\n."
    yield "text-of-a-terabyte", b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b"a."
    yield "bytes-of-an-exabyte", b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b"a."
    yield "bytes-of-2-gigabytes", b"\x80\x04\x8b" + struct.pack("<i", (1 << 31) - 1) + b"a."
    yield "colliding-keys", b"\x80\x04}(" + b"".join(map(_colliding, range(200_000))) + b"u."


def large_pickles(opcodes: int) -> Iterator[tuple[str, bytes]]:
    """Make pickles that take much more memory than their own size."""
    for name, opcode in (
        ("lists", b"]"), ("sets", b"\x8f"), ("dictionaries", b"}"), ("marks", b"("),
        ("constants", b"N"), ("tuples", b")\x85"), ("integers", b"J\x00\x00\x00\x01"),
        ("copies", b"2"), ("frozen-sets", b"(\x91"), ("sets-with-items", b"(K\x01\x91"),
        ("remembered", b"\x94"), ("remembered-lists", b"]\x94"),
    ):  # fmt: skip
        yield f"many-{name}", b"\x80\x04(N" + opcode * opcodes + b"l."


def executing_pickles() -> Iterator[tuple[str, bytes]]:
    """Make pickles that write a file named `executed` where they are unpickled by Python."""
    command = b"touch executed"
    text = b"X" + struct.pack("<I", len(command)) + command
    yield "executes-global", b"\x80\x02cos\nsystem\n" + text + b"\x85R."
    yield "executes-stack-global", b"\x80\x04\x8c\x02os\x8c\x06system\x93" + text + b"\x85R."
    yield "executes-instance", b"(" + text + b"ios\nsystem\n."
    yield "executes-object", b"(cos\nsystem\n" + text + b"o."
    yield "executes-posix", b"\x80\x02cposix\nsystem\n" + text + b"\x85R."
    code = b"open('executed','w').close()"
    code = b"X" + struct.pack("<I", len(code)) + code
    yield "executes-code", b"\x80\x02cbuiltins\nexec\n" + code + b"\x85R."
    yield "executes-new", b"\x80\x02csubprocess\nPopen\n" + text + b"\x85\x81."
    yield "executes-in-a-list", b"\x80\x02](cos\nsystem\n" + text + b"\x85RK\x01e."
    yield "executes-as-key", b"\x80\x02}cos\nsystem\n" + text + b"\x85RK\x01s."
    yield "executes-by-extension", b"\x80\x02\x82\x01" + text + b"\x85R."


def repeating_pickles() -> Iterator[tuple[str, bytes]]:
    """Make lists whose items are the same large one again and again."""
    doubled = b"q\x00h\x00\x86" * 19
    again = b"q\x01a" + b"h\x01a" * 100_000
    yield "repeats-a-tuple", b"\x80\x02])" + doubled + again + b"."
    words = b"](" + b"X\x01\x00\x00\x00a" * 500_000 + b"e"
    yield "repeats-a-list", b"\x80\x02]" + words + again + b"."
    yield "repeats-at-once", b"\x80\x02](" + words + b"q\x01" + b"h\x01" * 100_000 + b"e."


HONEST = frozenset(("many-constants", "many-integers", "many-copies"))
"""Large pickles that take little for their size, and are read."""


def _colliding(number: int) -> bytes:
    """Make a key with the hash 0, and a value."""
    key = ((1 << 61) - 1) * (number + 1)
    return b"\x8a\x0a" + key.to_bytes(10, "little") + b"N"


def tensor_file(matrix: Any = None, *, legacy: bool = False) -> bytes:
    """Write an honest tensor file, to be changed."""
    content = io.BytesIO()
    matrix = torch.arange(12, dtype=torch.float32).reshape(4, 3) if matrix is None else matrix
    torch.save(matrix, content, _use_new_zipfile_serialization=not legacy)
    return content.getvalue()


def header(count: int, offset: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> bytes:
    """Write what describes a tensor, with any numbers."""

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def integer(value: int) -> bytes:
        return pickle.dumps(value, protocol=2)[2:-1]

    def row(values: tuple[int, ...]) -> bytes:
        return b"(" + b"".join(map(integer, values)) + b"t"

    storage = (
        b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu")
        + integer(count) + b"tQ"
    )  # fmt: skip
    arguments = b"(" + storage + integer(offset) + row(shape) + row(steps) + b"\x89)t"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R."


def repacked(members: Mapping[str, bytes], compressed: frozenset[str] = frozenset()) -> bytes:
    """Write the zip of a tensor file with these members, some of them compressed."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in members.items():
            kind = zipfile.ZIP_DEFLATED if name in compressed else zipfile.ZIP_STORED
            archive.writestr(f"archive/{name}", data, kind)
    return content.getvalue()


def claiming(content: bytes, name: bytes, size: int, *, stored: bool = False) -> bytes:
    """Let the directory of a zip, and it alone, claim that a member has so many bytes.

    With `stored` it claims also that so many are stored.
    """
    at = content.rindex(name) - 46
    assert content[at : at + 4] == b"PK\x01\x02"
    start = at + 20 if stored else at + 24
    return content[:start] + struct.pack("<I", size) * (1 + stored) + content[at + 28 :]


def tensor_files() -> Iterator[tuple[str, bytes]]:
    """Make tensor files whose parts do not hold what others promise."""
    small = {"data.pkl": header(1 << 20, 0, (1024, 1024), (1024, 1)), "data/0": b"\0" * 16}
    short = repacked(small)
    yield "claims-more-than-is-stored", claiming(short, b"archive/data/0", 4 << 20)
    yield "claims-more-is-stored", claiming(short, b"archive/data/0", 4 << 20, stored=True)
    little = repacked({"data.pkl": header(64, 0, (8, 8), (8, 1)), "data/0": b"\1" * 16})
    yield "claims-a-little-more", claiming(little, b"archive/data/0", 256)
    yield "claims-gigabytes", claiming(
        repacked({**small, "data.pkl": header(1 << 29, 0, (1 << 14, 1 << 15), (1 << 15, 1))}),
        b"archive/data/0", (1 << 31),
    )  # fmt: skip
    yield "claims-a-huge-header", claiming(short, b"archive/data.pkl", 1 << 31)
    zeros = b"\0" * (1 << 21)
    yield "compressed-numbers", repacked({**small, "data/0": zeros * 2}, frozenset(("data/0",)))
    yield "byteorder-of-gigabytes", _byte_order_of_gigabytes()
    honest = tensor_file()
    yield "encrypted", bytes(honest).replace(b"PK\x01\x02\x00\x00\x00\x00\x08\x08", b"PK\x01\x02"
                                             b"\x00\x00\x00\x00\x09\x08")  # fmt: skip
    for kind in (1, 12, 14, 99):
        yield f"compression-{kind}", _with_method(short, kind)
    yield "directory-of-many", _with_directory(short, 200_000)
    for name, numbers in {
        "negative-offset": (12, -4, (4, 3), (3, 1)),
        "negative-step": (12, 11, (4, 3), (-3, 1)),
        "huge-step": (12, 0, (1, 1), (1 << 70, 1)),
        "huge-offset": (12, 1 << 70, (0, 3), (3, 1)),
        "wide-and-empty": (12, 0, (0, 1 << 62), (1, 1)),
        "overflowing-shape": (12, 0, (1 << 32, 1 << 32), (0, 0)),
        "overlapping": (12, 0, (1 << 20, 1 << 10), (0, 0)),
        "count-of-exabytes": (1 << 62, 0, (1 << 31, 1 << 31), (1 << 31, 1)),
    }.items():
        yield name, repacked({"data.pkl": header(*numbers), "data/0": b"\0" * 48})
    legacy = tensor_file(legacy=True)
    yield "legacy-deep", b"\x80\x02" + b")" + b"\x85" * _MANY + b"."
    yield "legacy-doubled", legacy[:16] + b"\x80\x02)" + _DOUBLED + b"."
    for name, content in (*executing_pickles(), *pickles()):
        if len(content) <= 1 << 20:
            yield f"header-{name}", repacked({"data.pkl": content, "data/0": b"\0" * 48})


def _byte_order_of_gigabytes() -> bytes:
    """Write a tensor file of 9 MB with a member of 2 GB that says which byte comes first."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("archive/data.pkl", header(12, 0, (4, 3), (3, 1)))
        archive.writestr("archive/data/0", b"\0" * 48, zipfile.ZIP_STORED)
        with archive.open("archive/byteorder", "w", force_zip64=True) as member:
            member.write(b"little")
            for _ in range(2048):
                member.write(b"\0" * (1 << 20))
    return content.getvalue()


def _with_directory(content: bytes, times: int) -> bytes:
    """Repeat the list of a zip's files."""
    end = content.rindex(b"PK\x05\x06")
    start = int.from_bytes(content[end + 16 : end + 20], "little")
    entries = content[start:end] * times
    size = struct.pack("<I", len(entries))
    return content[:start] + entries + content[end : end + 12] + size + content[end + 16 :]


def _with_method(content: bytes, method: int) -> bytes:
    at = content.rindex(b"archive/data/0") - 46
    return content[: at + 10] + struct.pack("<H", method) + content[at + 12 :]


def tars() -> Iterator[tuple[str, bytes]]:
    """Make compressed tars whose headers ask for gigabytes."""
    for name, kind in (
        ("long-name", tarfile.GNUTYPE_LONGNAME),
        ("long-link", tarfile.GNUTYPE_LONGLINK),
        ("pax-header", tarfile.XHDTYPE),
        ("pax-header-of-all", tarfile.XGLTYPE),
        ("pax-header-of-solaris", tarfile.SOLARIS_XHDTYPE),
    ):
        yield name, _gzipped([_header("x", kind, 3 << 29)], zeros=3 << 29)
    yield "sparse", _gzipped([_sparse(64 << 30)], zeros=1024)
    for version in ("0.0", "0.1", "1.0"):
        yield f"sparse-{version}", _gzipped([_pax_sparse(version)], zeros=1 << 28)
    for name, places in (("words", "a,b"), ("5000-digits", f"0,{'9' * 5000}")):
        fields = {"GNU.sparse.size": "512", "GNU.sparse.map": places}
        yield f"sparse-map-of-{name}", _gzipped([_pax(fields), _header("train.pkl")], zeros=1024)
    yield "file-of-a-terabyte", _gzipped([_header("x.pkl", tarfile.REGTYPE, 1 << 40)], zeros=1024)
    yield "negative-size", _gzipped([_pax({"size": "-512"}), _header("x")], zeros=1024)
    yield "size-of-5000-digits", _gzipped([_pax({"size": "9" * 5000}), _header("x")], zeros=1024)
    yield "odd-size", _gzipped([_pax({"size": "many"}), _header("x")], zeros=1024)
    yield "odd-pax", _gzipped([_header("x", tarfile.XHDTYPE, 512), b"99999999999 a=b\n" * 32])
    yield "zeros", _gzipped([_header("train.pkl", tarfile.REGTYPE, 3 << 30)], zeros=3 << 30)
    yield "zeros-after-the-end", _gzipped([_header("x")], zeros=3 << 30)
    for number, name in enumerate(("../escape", "/tmp/escape", "a/../../escape", "a\\..\\escape")):
        yield f"path-outside-{number}", _gzipped([_header(name)], zeros=1024)
    for name, kind in (("link", tarfile.SYMTYPE), ("hard-link", tarfile.LNKTYPE),
                       ("device", tarfile.CHRTYPE), ("pipe", tarfile.FIFOTYPE)):  # fmt: skip
        yield name, _gzipped([_header("train.pkl", kind)], zeros=1024)


def tar_of_many_files() -> tuple[str, bytes]:
    """Make a tar of a megabyte with 300,000 files."""
    return "many-files", _gzipped([_header("x") * 300_000], zeros=1024)


def _header(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


def _pax(fields: dict[str, str]) -> bytes:
    content = b""
    for key, value in fields.items():
        length = len(key) + len(value) + 3
        while length != (whole := len(str(length)) + len(key) + len(value) + 3):
            length = whole
        content += f"{length} {key}={value}\n".encode()
    padded = content.ljust(-(-len(content) // 512) * 512, b"\0")
    return _header("pax", tarfile.XHDTYPE, len(content)) + padded


def _sparse(size: int) -> bytes:
    block = bytearray(_header("train.pkl", tarfile.GNUTYPE_SPARSE, 512))
    block[386:410] = b"%011o\0%011o\0" % (0, 512)
    block[483:495] = struct.pack(">BxxxQ", 0x80, size)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def _pax_sparse(version: str) -> bytes:
    fields = {
        "0.0": {"GNU.sparse.size": str(8 << 30), "GNU.sparse.numblocks": "1",
                "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "512"},
        "0.1": {"GNU.sparse.size": str(8 << 30), "GNU.sparse.map": "0,512"},
        "1.0": {"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                "GNU.sparse.realsize": str(8 << 30)},
    }  # fmt: skip
    content = _header("train.pkl", tarfile.REGTYPE, 1 << 20)
    return _pax(fields[version]) + content


def _gzipped(blocks: list[bytes], *, zeros: int = 0) -> bytes:
    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", mtime=0, compresslevel=9) as stream:
        stream.write(b"".join(blocks))
    return content.getvalue() + repeated(b"\0", zeros)


def repeated(character: bytes, size: int) -> bytes:
    """Compress a character that is repeated so often; parts of such a file may be joined."""
    whole, rest = divmod(size, 1 << 24)
    compressed = _compressed(character, 1 << 24) if whole else b""
    return compressed * whole + _compressed(character, rest)


@cache
def _compressed(character: bytes, size: int) -> bytes:
    return gzip.compress(character * size, mtime=0)


def xml_files() -> Iterator[tuple[str, bytes]]:
    """Make XML in odd encodings, and XML that expands."""
    for encoding in (
        "foo", "utf-7", "utf-16", "utf-32", "punycode", "idna", "unicode_escape", "zlib", "rot13",
        "raw_unicode_escape", "shift_jis", "big5", "undefined", "mbcs", "hz", "x" * 50, "ebcdic",
    ):  # fmt: skip
        text = f"<?xml version='1.0' encoding='{encoding}'?><a><entry>\xe9\x80</entry></a>"
        yield f"encoding-{encoding[:20]}", text.encode("latin-1")
    yield "two-encodings", "<?xml version='1.0' encoding='utf-8'?><a>é</a>".encode("utf-16")
    yield "long-tag", gzip.compress(b"<a><entry ") + repeated(b"x", 1 << 28)
    yield "long-attribute", gzip.compress(b"<a><entry x='") + repeated(b"x", 1 << 28)
    yield "long-comment", gzip.compress(b"<a><!--") + repeated(b"x", 1 << 28)
    yield "long-instruction", gzip.compress(b"<a><?a ") + repeated(b"x", 1 << 28)
    yield "many-elements", gzip.compress(b"<a><entry>", mtime=0) + repeated(b"<b/>", 3 << 22)
    yield "spaces", gzip.compress(b"<a>") + repeated(b" ", 3 << 30)
    attributes = b"".join(b" a%d=''" % number for number in range(500_000))
    yield "many-attributes", b"<a><entry" + attributes + b"/></a>"
    yield "deep", b"<a>" * 1_000_000
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(12))
    for name, head in {
        "laughs": f'<!DOCTYPE a [<!ENTITY l0 "lol">{laughs}]>',
        "entity-of-a-file": '<!DOCTYPE a [<!ENTITY l12 SYSTEM "file:///etc/passwd">]>',
        "entity-of-the-web": '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://localhost/x"> %b;]>',
        "type-of-the-web": '<!DOCTYPE a SYSTEM "http://localhost/a.dtd">',
    }.items():
        yield name, f"<?xml version='1.0'?>{head}<a><entry>&l12;</entry></a>".encode()
