"""JSON and TOML that may be damaged or hostile: within limits, or one error with the file."""

from pathlib import Path

import pytest

from lrlm.errors import FormatError, InputError
from lrlm.plain_data import parse_json, parse_toml, read_json, shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        ("9" * 5000, "more than 64 bits"),
        ("[-9223372036854775808]", "more than 64 bits"),
        ("[9223372036854775808]", "more than 64 bits"),
        ("[NaN]", "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("", "not JSON"),
        (b"\xff", "not UTF-8 at byte 1"),
    ],
)
def test_json_has_limits(text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError, match=rf"^f\.json: cannot be read \(.*{message}"):
        parse_json(text, where="f.json")


def test_json_within_the_limits_is_read(tmp_path: Path) -> None:
    assert parse_json("[9223372036854775807, 1e3, -0]", where="f") == [2**63 - 1, 1000.0, 0]
    assert parse_json("[Infinity]", where="f", finite=False) == [float("inf")]
    (tmp_path / "f").write_text("[12]")
    assert read_json(tmp_path / "f", largest=4) == [12]
    with pytest.raises(FormatError, match="more than 3 bytes"):
        read_json(tmp_path / "f", largest=3)
    with pytest.raises(FormatError, match="there is no such file"):
        read_json(tmp_path / "g")
    with pytest.raises(FormatError, match="cannot be read"):
        read_json(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 9000, "nested too deep"),
        ("a = " + "[" * 150 + "]" * 150, "nested too deep"),
        ("\n".join(["[" + ".".join("a" * 200) + "]"]), "nested too deep"),
        ("a = " + "9" * 5000, "not TOML"),
        ("a = " + "9" * 50, "more than 64 bits"),
        (".".join("a" * 20_000) + " = 1", "a line of more than 10,000 characters"),
        ("#\n" * 50_000, "more than 65,536 characters"),
        ("a =", "not TOML"),
        (f'a.b = ["{"x" * 1001}"]', "a text of more than 1,000 characters"),
    ],
)
def test_toml_has_limits(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"^f\.toml: .*{message}"):
        parse_toml(text, where="f.toml")


def test_values_are_cut_in_messages() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    assert len(shown(deep)) < 100
    assert len(shown("x" * 10_000)) < 100
    assert len(shown(10**4000)) < 100
    assert shown("short") == "'short'"
