"""`lrlm generate`: write texts about a topic, and say where every piece came from."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lrlm.cli.console import as_plain_text, output, progress_of
from lrlm.cli.outputs import check_writable, write_out
from lrlm.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lrlm.inference.generated import Piece


class Format(StrEnum):
    """How texts are shown."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


def generate(
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]",
            help="A folder of 'lrlm train'; without one, the model that comes with lrlm.",
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option(metavar="ID|FILE.json", help="What to write about.", show_default=False),
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="KG", help="A knowledge graph to find the topic in.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A corpus to find the topic in.",
            show_default="the one trained on, if it is near",
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option("-n", "--samples", help="How many texts to write.", show_default="10"),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same texts.")] = 0,
    temperature: Annotated[
        float, typer.Option(help="Below 1 the probable becomes more probable.")
    ] = 1.0,
    top_k: Annotated[
        int | None, typer.Option(help="Choose only among the K most probable choices.")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(help="Choose only among the most probable choices that make up P together."),
    ] = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Always take the most probable choice.")
    ] = False,
    min_length: Annotated[int, typer.Option(help="Tokens that a text has at least.")] = 1,
    max_length: Annotated[int, typer.Option(help="Tokens that a text has at most.")] = 200,
    prompt: Annotated[str, typer.Option(help="A text to go on from.", show_default=False)] = "",
    max_uses: Annotated[
        int | None, typer.Option(help="How often a relation may be used in a text.")
    ] = None,
    only_known_names: Annotated[
        bool,
        typer.Option("--only-known-names", help="Spell no new words with capital letters."),
    ] = False,
    must_use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE[=OBJECT]",
            help="A relation that every text must use; may be given several times.",
            show_default=False,
        ),
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Write one text, and show it as it comes.")
    ] = False,
    format_: Annotated[Format, typer.Option("--format", help="How to show them.")] = Format.TEXT,
    out: Annotated[
        Path | None, typer.Option(metavar="F", help="Write to a file.", show_default=False)
    ] = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, …, or auto: cuda where there is one.")
    ] = "auto",
) -> None:
    """Write texts about a topic from what is known about it, the most probable per token first.

    Every piece says where it came from: a word, one that was spelled, or a relation.
    """
    if topic is None:
        raise InputError("say what to write about with --topic ID or --topic FILE.json")
    if stream and (format_ is not Format.TEXT or out is not None or samples not in (None, 1)):
        raise InputError("--stream shows one text as it comes: leave out --format, --out and -n")
    if out is not None:
        check_writable([out])

    from lrlm.generation.html import generated_to_html
    from lrlm.generation.terminal import generated_view
    from lrlm.inference.generate import generate as write
    from lrlm.inference.generate import stream as write_piecewise
    from lrlm.inference.generated_json import generated_to_json
    from lrlm.inference.model import load
    from lrlm.inference.options import GenerationOptions
    from lrlm.inference.topic_sources import topics_for
    from lrlm.inference.topics import find_topic

    options = GenerationOptions(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        greedy=greedy,
        min_length=min_length,
        max_length=max_length,
        prompt=prompt,
        max_uses=max_uses,
        only_known_names=only_known_names,
        must_use=tuple(map(_wish, must_use or ())),
    )
    with progress_of("texts") as progress:
        progress("loading the model", 0)
        model = load(run, device=device)
        found = find_topic(topic, topics_for(model.run, graph=graph, corpus=corpus))
        if not stream:
            progress("writing", 0)
            number = 10 if samples is None else samples
            texts = write(model.run, found, options, samples=number, seed=seed)
    if stream:
        _show(write_piecewise(model.run, found, options, seed=seed))
    elif format_ is Format.JSON:
        content = generated_to_json(
            texts, model=model.kind, topic=found.id, seed=seed, options=options
        )
        write_out(json.dumps(content, ensure_ascii=False, indent=1) + "\n", out)
    elif format_ is Format.HTML:
        about = f"Written by a model of the kind {model.kind}; seed {seed}."
        write_out(generated_to_html(texts, title=found.names[0], about=about), out)
    elif out is not None:
        write_out(as_plain_text(generated_view(texts)), out)
    else:
        output.print(generated_view(texts))


def _wish(given: str) -> str | tuple[str, str]:
    type_, equals, object_ = given.partition("=")
    if not type_ or (equals and not object_):
        raise InputError(f"--must-use {given}: write a relation type, or TYPE=OBJECT")
    return (type_, object_) if equals else type_


def _show(pieces: "Iterator[Piece]") -> None:
    from lrlm.generation.terminal import marked_piece

    end = 0
    for piece in pieces:
        output.print(marked_piece(piece, {}, end=end), end="", soft_wrap=True)
        output.file.flush()
        end = piece.end
    output.print()
