/** Sent as it stands: the page's policy allows this text and no other style. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f7f9; --ink: #1c2230; --soft: #5b6475; --line: #e3e6ec;
  --accent: #4338ca; --flag: #b4420a; --chip: #eef0f5;
  --code-paper: #141a29; --code-ink: #dfe5f2; --code-soft: #8d9ab5;
  --code-key: #8ecbff; --code-string: #a6e3a1; --code-literal: #f9c97c;
  --get: #0b6bcb; --post: #13794a; --patch: #9a5b00; --put: #9a5b00; --delete: #c02636;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #10141d; --panel: #161b27; --ink: #e4e8f1; --soft: #9aa5b9; --line: #262d3c;
    --accent: #a5b4fc; --flag: #fdba74; --chip: #222938; --code-paper: #0a0e16;
    --get: #6cb6ff; --post: #5fd39a; --patch: #f0b45a; --put: #f0b45a; --delete: #ff8a94;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; text-size-adjust: 100%; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); background: var(--paper); color: var(--ink); font: 15px/1.6 var(--sans); }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:focus-visible, label:focus-visible, #menu:focus-visible + label { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font-family: var(--mono); font-size: 0.87em; }
p code, td code, .form code { background: var(--chip); border-radius: 4px; padding: 0.1em 0.35em; overflow-wrap: anywhere; }
p { margin: 0 0 0.9rem; max-width: 44rem; }

nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.6rem 1rem 3rem 1.5rem; background: var(--panel); border-right: 1px solid var(--line); font-size: 0.92em; }
nav .brand { margin: 0 0 1.2rem; font-size: 1.1rem; font-weight: 650; }
nav .brand small { color: var(--soft); font-weight: 400; font-size: 0.75em; }
nav h2 { margin: 1.4rem 0 0.35rem; font-size: 0.76rem; font-weight: 650; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { color: inherit; text-decoration: none; }
nav li a { display: flex; justify-content: space-between; align-items: baseline; gap: 0.6rem; padding: 0.22rem 0.5rem; margin-left: -0.5rem; border-radius: 6px; }
nav li a:hover { background: var(--chip); }
nav .method { font-size: 0.68em; background: none; padding: 0; }
#menu, nav label { position: absolute; opacity: 0; pointer-events: none; }

main { padding: 3rem clamp(1.25rem, 4vw, 4rem) 6rem; max-width: 92rem; }
h1 { margin: 0 0 0.4rem; font-size: 2.3rem; line-height: 1.15; letter-spacing: -0.025em; }
.lead { font-size: 1.2rem; color: var(--soft); }
section { margin-top: 3.5rem; }
h2, h3 { line-height: 1.25; letter-spacing: -0.012em; }
main h2 { margin: 0 0 1rem; font-size: 1.6rem; }
h3 { margin: 2rem 0 0.6rem; font-size: 1.2rem; }
h4 { margin: 1.8rem 0 0.5rem; font-size: 0.92rem; font-weight: 650; }
main h2 a, h3 a { color: inherit; text-decoration: none; }
main h2 a:hover::after, h3 a:hover::after { content: " #"; color: var(--soft); }
.chapter { max-width: 56rem; }

article { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem 3rem; padding: 2.2rem 0; border-top: 1px solid var(--line); }
article h3 { margin-top: 0; }
.endpoint { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }
.endpoint > code { background: none; padding: 0; font-size: 0.95em; font-weight: 600; }
.method { font: 700 0.76rem/1.7 var(--mono); padding: 0 0.5em; border-radius: 5px; color: var(--method); background: color-mix(in srgb, var(--method) 14%, transparent); }
.get, .head { --method: var(--get); } .post { --method: var(--post); } .put { --method: var(--put); }
.patch { --method: var(--patch); } .delete { --method: var(--delete); }
.badge { font-size: 0.78rem; line-height: 1.7; padding: 0 0.6em; border: 1px solid var(--line); border-radius: 99px; color: var(--soft); white-space: nowrap; }
.note { margin-top: 0.7rem; font-size: 0.88em; color: var(--soft); }

table { width: 100%; margin-bottom: 1rem; border: 1px solid var(--line); border-radius: 8px; border-spacing: 0; overflow: hidden; font-size: 0.92em; }
th, td { padding: 0.55rem 0.85rem; text-align: left; vertical-align: top; font-weight: inherit; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
thead th { background: var(--panel); border-bottom: 1px solid var(--line); font-size: 0.84em; font-weight: 600; color: var(--soft); white-space: nowrap; }
tbody th > code { font-weight: 600; }
.pairs { table-layout: fixed; }
.pairs th:first-child { width: 42%; }
.pairs td { overflow-wrap: break-word; }
.wide { overflow-x: auto; }
.wide table { min-width: 38rem; }
.parent { color: var(--soft); font-weight: 400; }
th > .type { display: block; }
.type, .limit { color: var(--soft); font-size: 0.9em; }
.flag { color: var(--flag); }
.limit { display: block; margin-top: 0.15rem; }
.status { font-variant-numeric: tabular-nums; font-family: var(--mono); font-size: 0.9em; color: var(--soft); margin-right: 0.3em; }
.form th { background: var(--panel); font-weight: 600; }

figure { margin: 0 0 1rem; border-radius: 10px; overflow: hidden; background: var(--code-paper); border: 1px solid var(--line); }
figcaption { padding: 0.5rem 1rem; font-size: 0.8rem; color: var(--code-soft); border-bottom: 1px solid color-mix(in srgb, var(--code-soft) 25%, transparent); }
figcaption .status { color: var(--code-string); }
pre { margin: 0 0 1rem; padding: 0.9rem 1rem; overflow-x: auto; border-radius: 10px; background: var(--code-paper); color: var(--code-ink); font-size: 0.84rem; line-height: 1.55; tab-size: 2; }
figure pre { margin: 0; border-radius: 0; }
pre code { font-size: inherit; }
.key { color: var(--code-key); } .string { color: var(--code-string); } .literal { color: var(--code-literal); }

@media (min-width: 80rem) {
  article { grid-template-columns: minmax(0, 1.35fr) minmax(0, 1fr); }
  .examples { position: sticky; top: 1.5rem; align-self: start; }
}
@media (max-width: 56rem) {
  body { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; height: auto; padding: 1rem 1.25rem; border-right: 0; border-bottom: 1px solid var(--line); display: grid; grid-template-columns: 1fr auto; align-items: center; }
  nav .brand { margin: 0; }
  nav label { position: static; opacity: 1; pointer-events: auto; cursor: pointer; padding: 0.3rem 0.8rem; border: 1px solid var(--line); border-radius: 6px; }
  nav .links { display: none; grid-column: 1 / -1; }
  #menu:checked ~ .links { display: block; }
  main { padding-top: 2rem; }
  h1 { font-size: 1.9rem; }
}
@media (max-width: 40rem) {
  .pairs thead { display: none; }
  .pairs, .pairs tbody, .pairs tr, .pairs th, .pairs td { display: block; width: auto; }
  .pairs th:first-child { width: auto; padding-bottom: 0; }
  .pairs td { padding-top: 0.1rem; }
  .pairs tr + tr > td { border-top: 0; }
  th > .type { display: inline; margin-left: 0.4em; }
}
@media print { nav { display: none; } body { display: block; } article { break-inside: avoid; } }
`;
