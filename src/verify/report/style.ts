/**
 * The style sheet of the page. Colours are told apart by people who see fewer of them, and none stands alone: marks differ in shape,
 * bars are hollow or filled, verdicts have words and signs.
 */

const LIGHT = `color-scheme: light; --page: #fff; --panel: #f6f7f9; --text: #1b1f24; --quiet: #59616b; --line: #d5d9df; --axis: #6b737d;
  --blue: #0a62a8; --purple: #7a4fb5; --red: #b8340a; --band: #dfe8f2; --good: #e3f1fb; --bad: #fdeae2; --warning: #fff3cf; --edge: #8a6a00;`;
const DARK = `color-scheme: dark; --page: #14171b; --panel: #1d2127; --text: #e8ebee; --quiet: #a5aeb8; --line: #39414a; --axis: #8b949e;
  --blue: #6cb6ff; --purple: #c4a0ff; --red: #ff9066; --band: #263444; --good: #16304a; --bad: #4a2215; --warning: #3d3210; --edge: #e3c04a;`;

export const STYLE = `
:root { ${LIGHT} }
@media screen and (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem clamp(.7rem, 3vw, 2rem) 3rem; max-width: 84rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 .7rem; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p { margin: .5rem 0; max-width: 75ch; }
a { color: var(--blue); }
section { margin-top: 2rem; padding-top: 1.3rem; border-top: 2px solid var(--line); }
nav ul { padding: 0; list-style: none; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
.verdict { max-width: none; padding: .7rem .9rem; border-left: .4rem solid var(--blue); background: var(--good); }
.verdict.bad { border-color: var(--red); background: var(--bad); }
.status { margin: .7rem 0; }
.status p { margin: 0; }
.status ul { margin: .3rem 0 0; }
.status.warning { padding: .7rem .9rem; border: 2px dashed var(--edge); background: var(--warning); }
.outcome { font-weight: 600; white-space: nowrap; }
.outcome.good { color: var(--blue); }
.outcome.bad, .outcome.wrong { color: var(--red); }
.outcome.near-tie { color: var(--purple); }
.note { color: var(--quiet); font-size: .875rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 31rem), 1fr)); gap: 1.2rem; align-items: start; margin: 1.2rem 0; }
.figures:empty { display: none; }
figure { margin: 0; min-width: 0; padding: .8rem; border: 1px solid var(--line); border-radius: .4rem; break-inside: avoid; container-type: inline-size; }
figcaption { font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: .3rem 0 .6rem; padding: 0; list-style: none; font-size: .8125rem; color: var(--quiet); }
.legend li { display: flex; align-items: center; gap: .35rem; }
.legend svg { flex: none; width: 16px; height: 16px; }
.chart svg { display: block; width: 100%; max-width: 44rem; height: auto; }
.chart .narrow { display: none; max-width: 24rem; }
@container (width < 26rem) { .chart .wide { display: none; } .chart .narrow { display: block; } }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--text); }
svg .number { fill: var(--quiet); font-variant-numeric: tabular-nums; }
svg .title { fill: var(--quiet); }
svg .far { fill: var(--red); font-weight: 700; }
.grid, path.row { stroke: var(--line); fill: none; }
.axis { stroke: var(--axis); fill: none; }
.band { fill: var(--band); }
.even { stroke: var(--axis); fill: none; stroke-dasharray: 5 3; }
.stem { stroke: var(--axis); fill: none; }
.error { stroke: var(--text); stroke-width: 1.3; fill: none; }
.threshold { stroke: var(--text); stroke-width: 2.5; fill: none; }
path.observed { fill: none; stroke: var(--blue); stroke-width: 1.5; }
rect.observed, rect.exact { fill: var(--blue); }
rect.near-tie { fill: var(--purple); }
rect.wrong { fill: var(--red); }
rect.expected { fill: none; stroke: var(--axis); stroke-width: 1.5; }
path.near-tie { fill: none; stroke: var(--purple); stroke-width: 1.5; }
path.wrong { fill: none; stroke: var(--red); stroke-width: 2.2; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th.number, td.number { text-align: right; }
td.number { white-space: nowrap; }
th { font-weight: 600; vertical-align: bottom; }
td.text { min-width: 5rem; max-width: 34rem; overflow-wrap: anywhere; }
@media screen and (width < 40rem) {
  table.long, table.long tbody { display: block; }
  table.long thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.long tr { display: flex; flex-wrap: wrap; gap: .1rem .9rem; padding: .45rem 0; border-bottom: 1px solid var(--line); }
  table.long td { min-width: 0; max-width: none; padding: 0; border: 0; text-align: left; }
  table.long td.long { flex: 1 0 100%; }
  table.long td.number::before { content: attr(data-title) " "; color: var(--quiet); }
}
mark { background: var(--bad); color: var(--red); font-weight: 700; text-decoration: underline; }
summary { cursor: pointer; font-size: .875rem; color: var(--quiet); padding: .2rem 0; }
details[open] .scroll { max-height: 24rem; overflow: auto; }
pre { max-height: 30rem; overflow: auto; padding: .7rem; background: var(--panel); font: .8125rem/1.45 ui-monospace, "Liberation Mono", monospace; white-space: pre-wrap; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: .1rem 2rem; margin: .4rem 0; font-size: .875rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 .8rem; border-bottom: 1px solid var(--line); padding: .2rem 0; }
dt { color: var(--quiet); flex: 0 0 9rem; }
dd { margin: 0; flex: 1 1 10rem; font-family: ui-monospace, "Liberation Mono", monospace; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  * { print-color-adjust: exact; }
  .scroll, pre, details[open] .scroll { overflow: visible; max-height: none; }
  .figures { display: block; } figure { margin: 0 0 1rem; }
  tr, .verdict, .status { break-inside: avoid; } h2, h3 { break-after: avoid; }
  details:not([open]) { display: none; }
}
`;
