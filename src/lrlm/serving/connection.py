"""Read requests from a connection with a parser in C, within bounds.

The parser itself takes a head of any length, and keeps all of it; here one that does not end is
refused. The bodies of requests are bounded by the guard.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 32 << 10
"""Bytes of a connection in which neither a head ends nor a body goes on."""


class BoundedConnection(HttpToolsProtocol):
    """A connection on which heads and trailers have a bounded size."""

    transport: asyncio.Transport
    _read_in_vain = 0
    """Bytes since a head was whole, a part of a body came, or a request ended."""

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        self._read_in_vain += len(data)
        super().data_received(data)
        if self._read_in_vain > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._read_in_vain = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._read_in_vain = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Be ready for the next request."""
        self._read_in_vain = 0
        super().on_message_complete()
