"""Run the explorer on an address of this machine until it is told to stop."""

import ctypes
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import uvicorn

from lrlm.serving.app import create_app
from lrlm.serving.connection import BoundedConnection
from lrlm.serving.explorer import Explorer
from lrlm.serving.guard import Doorkeeper
from lrlm.serving.limits import ServerLimits

_IDLE_SECONDS = 30
"""After which a connection that asks for nothing is closed."""
_TURN_SECONDS = 0.005
"""How long a thread computes before another gets its turn, as the event loop often has to."""
_OBJECTS_BETWEEN_SEARCHES = 50_000
"""New objects after which Python looks for garbage: an answer makes thousands that are no garbage
for long."""
_KEPT_MEMORY = 256 << 20
"""Bytes that stay with the process when nothing is in them."""
_LARGEST_BLOCK = 32 << 20
"""Bytes of a tensor from which on its memory is given back at once."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""As malloc.h of glibc numbers them."""


class _Server(uvicorn.Server):
    """A server for which being told to stop is no error: it ends what it has begun."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take SIGTERM and Ctrl-C as the wish to stop; a second Ctrl-C stops at once."""
        if threading.current_thread() is not threading.main_thread():
            yield  # signals are for the main thread
            return
        wishes = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in wishes}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(
    explorer: Explorer,
    listening: socket.socket,
    doorkeeper: Doorkeeper,
    *,
    limits: ServerLimits | None = None,
    started: Callable[[], None] = lambda: None,
) -> None:
    """Answer on an open port until SIGTERM or Ctrl-C; begun requests are ended first."""
    limits = limits or ServerLimits()
    app = create_app(explorer, limits=limits, doorkeeper=doorkeeper)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=BoundedConnection,
        loop="auto",  # uvloop, where it is there
        lifespan="on",
        limit_concurrency=limits.connections,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=int(limits.drain_seconds),
    )
    sys.setswitchinterval(_TURN_SECONDS)
    _keep_memory()
    # Two threads read texts at the same time, each with half of the cores.
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))
    started()
    # What is there by now stays: looking through it for garbage would stop everything for 0.1 s.
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
    try:
        _Server(config).run(sockets=[listening])
    finally:
        gc.unfreeze()


def _keep_memory() -> None:
    """Keep the memory that one batch has freed for the next, where the C library is glibc.

    Otherwise it is given back and asked for again with every batch: a tenth of a batch's time.
    """
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT_MEMORY)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGEST_BLOCK)
