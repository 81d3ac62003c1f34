"""Three hundred texts that run a script, or hide or reverse other text, if they are not escaped."""

from __future__ import annotations

from typing import Final

MARK: Final = "ran"
"""A payload's script sets this attribute at the root of the document if it runs."""
_RUN: Final = f"document.documentElement.setAttribute('data-{MARK}',1)"

_SCRIPTS: Final = (
    f"<script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"</SCRIPT ><sCrIpT>{_RUN}</sCrIpT>",
    f"<!--<script>{_RUN}</script>-->",
    f"<img src=x onerror={_RUN}>",
    f'<img src=`x` onerror="{_RUN}">',
    f"<svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<body onload={_RUN}>",
    f"<iframe srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    f"<iframe src=javascript:parent.{_RUN}></iframe>",
    f"<details open ontoggle={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<a href=javascript:{_RUN}>x</a>",
    f"javascript:{_RUN}",
    f"<math><mtext></table><img src=x onerror={_RUN}>",
    f"<style>@import 'data:text/css,*{{color:red}}'</style><img src=x onerror={_RUN}>",
    f"<base href=javascript:{_RUN}//>",
    f'<object data="data:text/html,<script>parent.{_RUN}</script>"></object>',
    f"<link rel=stylesheet href=x onerror={_RUN}>",
    f"<video><source onerror={_RUN}></video>",
    f"<template><script>{_RUN}</script></template>",
    f'<noscript><p title="</noscript><img src=x onerror={_RUN}>">',
    f'<xmp><p title="</xmp><img src=x onerror={_RUN}>">',
    f"';{_RUN};'",
    f'";{_RUN};"',
    f"`${{{_RUN}}}`",
    f"}});{_RUN};({{",
    f"constructor.constructor('{_RUN}')()",
    # Words that charts interpret.
    "{a|{b}: {c}}<br/>{marker}",
    "{@[0]}{bg|x}",
    "__proto__",
)
_AROUND: Final = (
    "{}",
    '">{}',
    "'>{}",
    "--></textarea></title></style>{}",
    "\u202e{}\u202c",
    "\u2028{}\u2029",
    "a\x00\x08\x1b[31m{}",
    "\ufeff\u200b\u2066{}\u2069",
    "\u0430dmin {}",
    "&lt;{}&#x3e;",
)
PAYLOADS: Final = [around.format(script) for around in _AROUND for script in _SCRIPTS][:300]
