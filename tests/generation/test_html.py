"""Generated texts as a web page and in a notebook: complete, and safe to show."""

import re
from html import unescape

from lrlm.generation.generated_text import GeneratedText, Piece
from lrlm.generation.views import generated_to_html, html_fragment

TEXT = "It was <Oslo> & krones."


def generated() -> GeneratedText:
    """A text with a piece of every source, and a name that looks like markup."""
    pieces = (
        Piece("It", 0, 2, "prompt", 0.0),
        Piece("was", 3, 6, "word", -1.5),
        Piece("<Oslo>", 7, 13, "relation", -0.5, 'ca<p> "x"', "Q<1>", "<Oslo> city", True),
        Piece("&", 14, 15, "word", -2.0),
        Piece("krones", 16, 22, "spelled", -9.0),
        Piece(".", 22, 23, "word", -0.1),
    )
    tokens = tuple(piece.text for piece in pieces)
    return GeneratedText(TEXT, pieces, tokens, 5, -13.1, -12.0, is_joint=False, ended=False)


def plain(html: str) -> str:
    """What is left of HTML without its tags, and without the types behind names."""
    without_types = re.sub(r"<small.*?</small>", "", html)
    return unescape(re.sub(r"<[^>]*>", "", without_types))


def test_a_page_holds_every_text_and_where_its_pieces_came_from() -> None:
    page = generated_to_html([generated(), generated()], title="<Norway>", about="two & more")
    articles = re.findall(r"<article>.*?</p><p>(.*?)</p></article>", page)
    assert [plain(article) for article in articles] == [TEXT, TEXT]
    assert "<h1>&lt;Norway&gt;</h1>" in page
    assert "two &amp; more" in page
    assert "stopped at the greatest length" in page
    assert 'class="name partial"' in page
    assert "log-probability -9.00" in page
    assert "Q&lt;1&gt;, form “&lt;Oslo&gt; city”" in page
    assert "<Oslo>" not in page
    assert "<script" not in page


def test_a_fragment_holds_the_text_and_changes_nothing_around_it() -> None:
    found = html_fragment(generated())
    about, _, text = found.partition("</p>")
    assert plain(text) == TEXT
    assert "5 tokens, perplexity 11.0, stopped at the greatest length" in about
    assert set(re.findall(r"<(\w+)", found)) == {"div", "p", "span", "mark", "small"}
    assert set(re.findall(r' (\w[\w-]*)="', found)) == {"style", "title"}
    assert "<Oslo>" not in found
    assert "ca<p>" not in found
