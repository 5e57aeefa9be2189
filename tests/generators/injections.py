"""Texts that would run, or look like something else, on a page that is not careful."""

from itertools import product

_CALL = "window.hit=1"

_MARKUP = (
    f"<script>{_CALL}</script>",
    f"<img src=x onerror={_CALL}>",
    f"<svg onload={_CALL}>",
    f"<svg><script>{_CALL}</script></svg>",
    f"<iframe srcdoc='<script>parent.{_CALL}</script>'>",
    f"<body onload={_CALL}>",
    f"<details open ontoggle={_CALL}>",
    f"<input autofocus onfocus={_CALL}>",
    f"<a href=javascript:{_CALL}>x</a>",
    f"<math><mtext><img src=x onerror={_CALL}></mtext></math>",
    f"<template><img src=x onerror={_CALL}></template>",
    f"<style>@import 'x';</style><p style=animation-name:x onanimationstart={_CALL}>",
    f"<object data=javascript:{_CALL}>",
    f"<embed src=javascript:{_CALL}>",
    f"<meta http-equiv=refresh content='0;url=javascript:{_CALL}'>",
    f"<base href=javascript:{_CALL}//>",
    f"<form action=javascript:{_CALL}><button>x</button></form>",
    f"<marquee onstart={_CALL}>",
    f"<video><source onerror={_CALL}></video>",
    f"<noscript><p title='</noscript><img src=x onerror={_CALL}>'>",
)
_BROKEN_OUT = (
    '"',
    "'",
    "`",
    "</title>",
    "</textarea>",
    "</style>",
    "-->",
    "]]>",
    "&quot;",
    "&#39;",
)
_OTHERS = (
    f"{{{{constructor.constructor('{_CALL}')()}}}}",
    f"${{{_CALL}}}",
    f"';{_CALL};//",
    f'";{_CALL};//',
    f"\\u003cscript\\u003e{_CALL}\\u003c/script\\u003e",
    f"&lt;script&gt;{_CALL}&lt;/script&gt;",
    f"＜script＞{_CALL}＜/script＞",
    f"javascript:{_CALL}",
    f"data:text/html,<script>{_CALL}</script>",
    f"url(javascript:{_CALL})",
    f"expression({_CALL})",
    "\u202eyawroN",
    "Os\u200blo",
    "A\u0301\u0302\u0303\u0304\u0305",
    "]]><!--",
)
INJECTIONS = (
    *_MARKUP,
    *_OTHERS,
    *(f"{before}{markup}" for before, markup in product(_BROKEN_OUT, _MARKUP[:2])),
)
"""Whatever of these runs sets `window.hit`."""
