"""Ask a SPARQL endpoint, politely and within bounds: time, size of the answer, and tries.

One request at a time, with a name that says who asks. Where the server says that it is busy, it
is asked again after the time that it names. Answers are kept on disk for a while, so the same
question is not asked twice.
"""

import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

from lrlm.errors import EndpointError, FormatError, InputError, LrlmError
from lrlm.plain_data import parse_json, read_bytes
from lrlm.whole_files import replace_file

LARGEST_ANSWER = 32 << 20
"""Bytes of an answer that are read."""
USER_AGENT = "lrlm (reads single topics, one request at a time)"
KEPT_DAYS = 30
"""How long an answer on disk is used."""

_BUSY = frozenset({429, 500, 502, 503, 504})
_PAUSES = (1.0, 2.0, 4.0)
"""Seconds to wait before asking again, where the server names no time."""
_BLOCK = 1 << 16
_TOLD = 200
_IN_AN_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`\x7f]+")
_LANGUAGE = re.compile(r"[A-Za-z]{1,20}(?:-[A-Za-z0-9]{1,20})*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}

Binding = Mapping[str, Mapping[str, str]]
"""One row of an answer: terms by the names of their variables."""


class SparqlClient:
    """Asks one endpoint; `cache` is a folder for answers, None to keep none."""

    def __init__(
        self,
        address: str,
        *,
        timeout: float = 60.0,
        largest: int = LARGEST_ANSWER,
        cache: Path | None = None,
        user_agent: str = USER_AGENT,
    ) -> None:
        if not address.startswith(("https://", "http://")) or not _IN_AN_ADDRESS.fullmatch(address):
            raise InputError(f"{address!r} is not the address of an endpoint, as https://…/sparql")
        if timeout <= 0:
            raise InputError(f"the time limit must be more than 0 seconds, not {timeout}")
        if not user_agent.isascii() or not user_agent.isprintable():
            raise InputError(f"a user agent is written in plain letters, not {user_agent!r}")
        self.address, self.timeout, self.largest = address, timeout, largest
        self.cache, self.user_agent = cache, user_agent

    def select(self, query: str) -> list[Binding]:
        """Give the rows that answer a query, from the disk if they are there."""
        kept = self._kept(query)
        if kept is not None and kept.is_file() and not _is_old(kept):
            try:
                return self._rows(read_bytes(kept, largest=self.largest))
            except (FormatError, EndpointError):
                pass  # a damaged file: ask again
        content = self._ask(query)
        rows = self._rows(content)
        if kept is not None:
            _keep(kept, content)
        return rows

    def _kept(self, query: str) -> Path | None:
        if self.cache is None:
            return None
        name = hashlib.sha256(f"{self.address}\0{query}".encode()).hexdigest()
        return self.cache / f"{name}.json"

    def _rows(self, content: bytes) -> list[Binding]:
        """Take an answer apart; it must be what SPARQL calls its JSON results."""
        try:
            answer = parse_json(content, where=self.address)
        except FormatError as error:
            raise EndpointError(f"{error}; is this a SPARQL endpoint?") from None
        results = answer.get("results") if isinstance(answer, dict) else None
        rows = results.get("bindings") if isinstance(results, dict) else None
        if not isinstance(rows, list) or not all(map(_is_row, rows)):
            raise EndpointError(
                f"{self.address}: answered with JSON that holds no rows; is this a SPARQL endpoint?"
            )
        return rows

    def _ask(self, query: str) -> bytes:
        """Send a query; where the server is busy, wait and send it again while there is time."""
        deadline = time.monotonic() + self.timeout
        for pause in (*_PAUSES, None):
            try:
                return self._answer(query, deadline)
            except urllib.error.HTTPError as error:
                with error:
                    wait = _wait(error, pause)
                    if error.code not in _BUSY or wait is None:
                        raise self._failed(error) from None
                    if time.monotonic() + wait >= deadline:
                        raise EndpointError(
                            f"{self.address}: is busy ({error.code} {error.reason}) and asks to"
                            f" wait {wait:g} s; try again later, or allow more time"
                        ) from None
                time.sleep(wait)
            except TimeoutError:
                raise self._too_slow() from None
            except urllib.error.URLError as error:
                if isinstance(error.reason, TimeoutError):
                    raise self._too_slow() from None
                raise EndpointError(f"{self.address}: cannot be reached ({error.reason})") from None
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
                raise EndpointError(f"{self.address}: the answer broke off ({reason})") from None
        raise AssertionError("the last try gives an answer or an error")

    def _answer(self, query: str, deadline: float) -> bytes:
        request = urllib.request.Request(  # noqa: S310  the scheme was checked
            self.address,
            data=urlencode({"query": query}).encode(),
            headers={
                "Accept": "application/sparql-results+json",
                "User-Agent": self.user_agent,
            },
        )
        content = bytearray()
        left = max(deadline - time.monotonic(), 0.001)
        with urllib.request.urlopen(request, timeout=left) as response:  # noqa: S310
            while block := response.read1(_BLOCK):
                content += block
                if len(content) > self.largest:
                    raise EndpointError(
                        f"{self.address}: answered with more than {self.largest >> 20 or 1} MiB"
                    )
                if time.monotonic() > deadline:
                    raise TimeoutError
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        return bytes(content)

    def _failed(self, error: urllib.error.HTTPError) -> EndpointError:
        said = " ".join(error.read(4 * _TOLD).decode("utf-8", "replace").split())[:_TOLD]
        said = "".join(each if each.isprintable() else "?" for each in said)
        return EndpointError(f"{self.address}: answered {error.code} {error.reason}: {said}")

    def _too_slow(self) -> EndpointError:
        return EndpointError(
            f"{self.address}: did not answer within {self.timeout:g} s; try again, or allow more"
            " time"
        )


def _wait(error: urllib.error.HTTPError, pause: float | None) -> float | None:
    """Give how long to wait before asking again; None where it was the last try."""
    named = error.headers.get("Retry-After", "")
    if pause is not None and named.isascii() and named.isdecimal():
        return float(named[:9])
    return pause


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and all(
        isinstance(term, dict) and all(isinstance(each, str) for each in term.values())
        for term in row.values()
    )


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > KEPT_DAYS * 24 * 3600


def _keep(path: Path, content: bytes) -> None:
    """Write an answer to disk; where nothing can be written, nothing is kept."""
    with suppress(OSError, LrlmError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)


def default_cache() -> Path:
    """Give the folder where answers are kept unless another one is named."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "lrlm" / "endpoints"


def address_term(address: str) -> str:
    """Write an address as a term of SPARQL and N-Triples."""
    if not _IN_AN_ADDRESS.fullmatch(address):
        raise InputError(f"{address!r} is not an address, as http://example.org/Oslo")
    return f"<{address}>"


def text_term(text: str, language: str = "") -> str:
    """Write a text, perhaps with its language, as a term of SPARQL and N-Triples."""
    escaped = "".join(_ESCAPES.get(each, each) for each in text)
    return f'"{escaped}"@{language}' if _LANGUAGE.fullmatch(language) else f'"{escaped}"'


def written_term(term: Mapping[str, str]) -> str | None:
    """Write a term of an answer as in N-Triples; None where it cannot be written."""
    value = term.get("value", "")
    match term.get("type"):
        case "uri":
            return f"<{value}>" if _IN_AN_ADDRESS.fullmatch(value) else None
        case "bnode":
            return f"_:{value}" if value.isalnum() else None
        case "literal" | "typed-literal":
            datatype = term.get("datatype")
            if datatype is None:
                return text_term(value, term.get("xml:lang", ""))
            if not _IN_AN_ADDRESS.fullmatch(datatype):
                return None
            return f"{text_term(value)}^^<{datatype}>"
    return None
