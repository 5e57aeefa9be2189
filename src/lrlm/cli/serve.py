"""`lrlm serve`: open the explorer, a web page and an API on this machine."""

import importlib.util
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lrlm.cli.console import output, progress_of
from lrlm.cli.options import Device, TopicGraph
from lrlm.errors import MissingExtraError
from lrlm.look import counted


def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Folders of trained models; without any, the small model that comes with lrlm.",
            show_default=False,
        ),
    ] = None,
    graph: TopicGraph = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one that others can reach needs --token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="LRLM_TOKEN",
            help="Secret that requests have to know, at least 16 characters.",
            show_default=False,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Further name by which the server may be called, as behind a proxy.",
            show_default=False,
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    device: Device = "auto",
) -> None:
    """Open the explorer: a page on which texts are annotated, generated, edited and compared.

    It listens on this machine only, unless told otherwise, until Ctrl-C. The same address has a
    JSON API under /api/v1.
    """
    needed = ("fastapi", "httptools", "msgspec", "uvicorn")
    if any(importlib.util.find_spec(name) is None for name in needed):
        raise MissingExtraError(
            "the explorer needs FastAPI, httptools, msgspec and uvicorn: pip install 'lrlm[serve]'"
        )
    from lrlm.serving.addresses import address, doorkeeper_for, listen

    names = tuple(name.lower() for name in allow_host or ())
    doorkeeper = doorkeeper_for(host, token, names)
    with listen(host, port) as listening, progress_of("models") as progress:
        progress("loading the models", 0, 0)
        from lrlm.serving.explorer import Explorer
        from lrlm.serving.server import serve as answer_requests

        explorer = Explorer.open(runs or (), graph=graph, device=device)
        place = address(listening)

        def tell() -> None:
            models = counted(len(explorer.models), "model")
            output.print(
                f"Explorer with {models} ({escape(', '.join(explorer.models))}):"
                f" [bold]{escape(place)}[/]",
                highlight=False,
                soft_wrap=True,
            )
            if token is not None:
                output.print(
                    f"The page asks for the token, or takes it from the address: {place}#token=…",
                    highlight=False,
                    soft_wrap=True,
                )
            output.print("Ctrl-C stops it.", style="dim")
            output.file.flush()
            if open_:
                webbrowser.open(place)

        progress("", 0, 0)
        answer_requests(explorer, listening, doorkeeper, started=tell)
    output.print("Stopped.", style="dim")
