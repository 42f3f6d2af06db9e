"""The style sheet of documents: light and dark, on a phone, on paper.

On a screen whatever is wider than the page scrolls inside of its own box (class ``wide``), never the page; on a phone
every row of a table of ``many`` columns becomes a block, with the heads before its cells. On paper
everything is shown: folded parts are open, boxes do not scroll, the ground is white, and every statement begins a page.

Formulas have a font of their own: without the tables that a font for mathematics has, a browser stretches neither roots
nor brackets, and a root seems to end before the fraction under it does.
"""

from __future__ import annotations

import functools
from base64 import b64encode
from pathlib import Path

# Rules for formulas and the font that they name, which the documentation takes from here too: of STIX Two Math 2.12 the
# characters that `mathml` writes. Its licence lies beside it.
FORMULAS = Path(__file__).parent / "formulas"

_SCREEN = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #555; --paper: #fff; --line: #c8c8c8; --band: #f3f3f3;
  --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --soft: #a8a8a8; --paper: #161616; --line: #444;
  --band: #222; --link: #8ab8f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; background: var(--paper); }
h1, h2, h3, h4, h5 { line-height: 1.25; margin: 1.4em 0 .4em; }
h2 { border-bottom: 2px solid var(--line); }
h3 { border-bottom: 1px solid var(--line); }
h5 { font-size: 1rem; }
header p { margin: 0 0 .6em; }
nav ul { padding-left: 1.2rem; }
#short { border: 2px solid var(--line); border-radius: .5rem; padding: .2rem 1rem .6rem; margin-top: 1rem; }
#short h2 { border: 0; margin: .3em 0; }
#short h3 { border: 0; font-size: 1rem; margin: .7em 0 0; }
#short p { margin: .15em 0; }
code { font: .9em ui-monospace, monospace; }
.wide { max-width: 100%; overflow-x: auto; overflow-y: hidden; margin: .4em 0; padding: .2em 0; }
.formula { display: inline-block; max-width: 100%; overflow-x: auto; overflow-y: hidden; vertical-align: middle; }
math { font-size: 1.05em; overflow-wrap: normal; }
table { border-collapse: collapse; min-width: 60%; overflow-wrap: break-word; }
caption { text-align: left; color: var(--soft); padding: .2em 0; }
th, td { border: 1px solid var(--line); padding: .25em .5em; text-align: left; vertical-align: top;
  min-width: 4rem; max-width: 26rem; }
thead th { background: var(--band); }
tbody th { font-weight: normal; }
tbody th code { overflow-wrap: normal; }
dl { display: grid; grid-template-columns: minmax(6rem, 12rem) 1fr; gap: .2em 1em; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; }
figure { background: #fff; padding: .5rem; border: 1px solid var(--line); }
figure svg { display: block; height: auto; max-width: 100%; }
summary { cursor: pointer; color: var(--link); }
footer { border-top: 1px solid var(--line); margin-top: 2em; color: var(--soft); }
"""
_PHONE = """
@media screen and (max-width: 36rem) {
  body { padding: .6rem; }
  h1, h2, h3 { overflow-wrap: anywhere; }
  ul { padding-left: 1.1rem; }
  dl { display: block; }
  dd { margin: 0 0 .5em 1rem; }
  th, td { max-width: 16rem; }
  table.many, table.many tbody, table.many tr, table.many th, table.many td { display: block; max-width: none; }
  table.many thead { display: none; }
  table.many tr { border: 1px solid var(--line); margin-bottom: .6em; padding: .3em; }
  table.many th, table.many td { border: 0; padding: .1em .2em; }
  table.many tbody th { background: var(--band); }
  table.many [data-head]::before { content: attr(data-head) ": "; color: var(--soft); }
  figure { margin-left: 0; margin-right: 0; }
}
"""
# What is folded is shown by ::details-content, which old browsers lack; a file without scripts cannot do it otherwise.
_PAPER = """
@page { margin: 1.6cm; }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #333; --paper: #fff; --line: #999; --band: #eee; --link: #000; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  nav, .skip { display: none; }
  main > section, #main-statements > section, #others-statements > section { break-before: page; }
  main > section:first-of-type, #summary { break-before: auto; }
  #main-statements > section:first-of-type, #others-statements > section:first-of-type { break-before: auto; }
  h1, h2, h3, h4, h5, caption, dt, summary { break-after: avoid; break-inside: avoid; }
  tr, figure, .wide > math { break-inside: avoid; }
  table:not(:has(tbody tr:nth-child(9))) { break-inside: avoid; }
  thead { display: table-header-group; }
  p, li, dd { orphans: 3; widows: 3; }
  .wide, .formula { overflow: visible; }
  table { width: 100%; font-size: 8pt; }
  th, td { min-width: 0; max-width: none; overflow-wrap: break-word; }
  td code, th code { overflow-wrap: anywhere; }
  math { font-size: .95em; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  summary { color: var(--soft); list-style: none; }
  figure svg { min-width: 0 !important; max-height: 24cm; }
}
"""
STYLE = _SCREEN + _PHONE + _PAPER


@functools.cache
def formulas() -> str:
    """The rules for formulas with their font inside, so that no network is needed."""
    font = b64encode((FORMULAS / "math.woff2").read_bytes()).decode("ascii")
    rules = (FORMULAS / "math.css").read_text(encoding="utf-8")
    return rules.replace('url("math.woff2")', f"url(data:font/woff2;base64,{font})")
