#include "report/charts.h"
#include "report/exports.h"

#include <fmt/format.h>

namespace lauka::report {

namespace {

// The colours of commands are Okabe's and Ito's (2008), which people with any colour vision can
// distinguish; the darker ones are lighter on dark ground.
std::string_view html_style() {
  return R"css(
:root { color-scheme: light dark; --ground: #ffffff; --text: #1c1e21; --faint: #5f6670; --line: #dcdfe3; --panel: #f6f7f9;
  --better: #12703a; --worse: #b3261e; --shade: #0004;
  --c0: #0072b2; --c1: #c44e00; --c2: #007a59; --c3: #a8527e; --c4: #9a6a00; --c5: #2b83b5; --c6: #6a5acd; --c7: #5a5a5a; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181c; --text: #e6e8eb; --faint: #a0a7b1; --line: #343941;
  --panel: #1f2228; --better: #5fd08b; --worse: #ff8a80; --shade: #fff5;
  --c0: #56b4e9; --c1: #ff9a57; --c2: #34d1a4; --c3: #e59cc4; --c4: #f0c04a; --c5: #8fd0f5; --c6: #b3a8ff; --c7: #bdbdbd; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
code.option { white-space: nowrap; }
p { margin: .25rem 0; }
ul { margin: .25rem 0; padding-left: 1.25rem; }
.aside, .faint { color: var(--faint); font-size: .85rem; }
.answer { font-size: 1.25rem; font-weight: 600; margin: .75rem 0 .25rem; overflow-wrap: anywhere; }
.gates { list-style: none; padding: 0; }
.mark { border: 1px solid currentColor; border-radius: 4px; padding: 0 .4rem; margin-right: .3rem; font-size: .85rem; }
.scroll { overflow-x: auto; background: linear-gradient(90deg, var(--ground) 40%, transparent) 0 0 / 2rem 100%,
  linear-gradient(-90deg, var(--ground) 40%, transparent) 100% 0 / 2rem 100%,
  linear-gradient(90deg, var(--shade), transparent) 0 0 / .8rem 100%,
  linear-gradient(-90deg, var(--shade), transparent) 100% 0 / .8rem 100%;
  background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
tbody th { font-weight: inherit; white-space: normal; min-width: 7rem; }
thead th { color: var(--faint); font-weight: 600; font-size: .85rem; }
.better { color: var(--better); font-weight: 600; }
.worse, .fail { color: var(--worse); font-weight: 600; }
.unsure { color: var(--faint); }
.chart { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .6rem; margin: .4rem 0; }
.row { margin: .3rem 0 .1rem; font-size: .9rem; }
.dot { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; background: currentColor; margin-right: .35rem; }
.bars { display: grid; grid-template-columns: minmax(6rem, 15rem) minmax(0, 1fr) auto; column-gap: .8rem; align-items: center; }
.who { grid-column: 1; display: flex; align-items: baseline; gap: .35rem; font-size: .9rem; }
.who .dot { flex: none; margin: 0; }
.bars .drawing { grid-column: 2; grid-row: span 1; order: 0; }
.value { grid-column: 3; order: 1; text-align: right; font-size: .9rem; font-variant-numeric: tabular-nums; }
.bars { grid-auto-flow: dense; }
input[type=radio] { margin: 0 .3rem 0 0; } label { margin-right: 1rem; font-size: .85rem; color: var(--faint); }
#overview-zero:checked ~ .close-up, #overview-close:checked ~ .from-zero,
#scan-linear:checked ~ .logarithmic, #scan-logarithmic:checked ~ .linear { display: none; }
.matrix td.better { background: color-mix(in srgb, var(--better) 12%, transparent); }
.matrix td.worse { background: color-mix(in srgb, var(--worse) 12%, transparent); }
.matrix td { white-space: normal; }
.matrix tbody th { min-width: 14rem; }
#tip { position: fixed; z-index: 1; max-width: 22rem; padding: .25rem .5rem; border-radius: 4px; background: var(--text);
  color: var(--ground); font-size: .85rem; pointer-events: none; overflow-wrap: anywhere; }
svg { display: block; overflow: visible; }
.line { width: 100%; }
.line path, .plot path { fill: none; vector-effect: non-scaling-stroke; }
svg.sign { display: inline-block; width: .7em; height: .7em; fill: none; stroke: currentColor; stroke-width: 2; }
.grid { stroke: var(--line); }
.tick { stroke: var(--faint); }
.zero { stroke: var(--text); stroke-width: 1.5; }
.limit { stroke: var(--worse); stroke-dasharray: 3 3; }
.label { fill: var(--faint); font-size: 11px; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); }
.c4 { color: var(--c4); } .c5 { color: var(--c5); } .c6 { color: var(--c6); } .c7 { color: var(--c7); }
.spots { fill: none; stroke: currentColor; stroke-opacity: .6; stroke-width: 5px; stroke-linecap: round;
  vector-effect: non-scaling-stroke; }
.line .shape { fill: currentColor; fill-opacity: .28; stroke: none; }
.span { stroke: currentColor; stroke-opacity: .55; stroke-width: 6; }
.trend { stroke: currentColor; stroke-width: 1.5; }
.fitted { stroke: var(--faint); stroke-dasharray: 4 3; }
.line .box { fill: currentColor; fill-opacity: .2; stroke: currentColor; }
.median { stroke: currentColor; stroke-width: 3; }
.interval { stroke: currentColor; stroke-width: 2; }
.estimate, .middle { stroke: currentColor; stroke-width: 6px; stroke-linecap: round; }
.middle { stroke-width: 10px; }
@media (max-width: 48rem) { .bars { grid-template-columns: minmax(0, 1fr); } .who { margin-top: .4rem; }
  .who, .value, .bars .drawing { grid-column: 1; order: 0; } .value { text-align: left; padding-left: 1.05rem; } }
@media (max-width: 34rem) { .more { display: none; }
  .matrix tbody th { min-width: 7rem; } table { font-size: .8rem; } th, td { padding: .25rem .35rem; } body { padding: .6rem; } }
details { margin: .5rem 0; }
summary { cursor: pointer; font-size: 1.05rem; font-weight: 600; padding: .3rem 0; }
@media print { .scroll { overflow: visible; background: none; } table { font-size: .75rem; }
  th, td, .matrix td { white-space: normal; padding: .2rem .3rem; } .scroll .more { display: table-cell; }
  :root { color-scheme: light; } body { max-width: none; } input, label { display: none; }
  .view { break-inside: avoid; } .chart, tr { break-inside: avoid; } h2, h3, summary { break-after: avoid; }
  details { break-inside: auto; } details:not([open]) { display: none; } }
)css";
}

}  // namespace

void write_page_begin(const std::string& title, std::string_view style, const Sink& sink) {
  sink(fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n",
      html_text(title), html_style(), style));
}

void write_page_end(std::string_view script, const Sink& sink) {
  sink("</main>\n");
  if (!script.empty()) sink(fmt::format("<script>{}</script>\n", script));
  sink("</body>\n</html>\n");
}

std::string_view html_script() {
  return R"js(
"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const points = new WeakMap();
  const read = path => {
    if (!points.has(path)) {
      const {name, runs, labels} = path.dataset;
      points.set(path, [...path.getAttribute("d").matchAll(/M(\d+) (\d+)/g)].map((at, i) =>
        ({x: +at[1], y: +at[2],
          label: labels ? labels.split("|")[i] : `run ${runs ? runs.split(" ")[i] : +at[1] + 1} of ${name}`})));
    }
    return points.get(path);
  };
  const value = (plot, part) => {
    const {low, high, size, unit, log} = plot.closest(".chart").dataset;
    const at = log ? low * (high / low) ** part : +low + part * (high - low);
    return Number((at / size).toPrecision(4)) + unit;
  };
  const show = event => {
    const plot = event.target.closest("svg.plot");
    const frame = plot && plot.getBoundingClientRect();
    let best = null;
    if (plot && plot.viewBox.baseVal) {
      const {width, height} = plot.viewBox.baseVal;
      for (const path of plot.querySelectorAll("path.spots")) {
        for (const point of read(path)) {
          const far = Math.hypot(frame.left + point.x / width * frame.width - event.clientX,
                                 frame.top + point.y / height * frame.height - event.clientY);
          if (far < 24 && (!best || far < best.far)) best = {far, point, path, width, height};
        }
      }
    }
    tip.hidden = !best;
    if (!best) return;
    const part = plot.closest(".chart").dataset.along === "x" ? best.point.x / best.width : 1 - best.point.y / best.height;
    tip.textContent = `${best.point.label}: ${value(plot, part)}`;
    const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, {passive: true});
})();
)js";
}

}  // namespace lauka::report
