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
    const {low, high, size, unit, log} = plot.closest("[data-along]").dataset;
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
    const part = plot.closest("[data-along]").dataset.along === "x" ? best.point.x / best.width : 1 - best.point.y / best.height;
    tip.textContent = `${best.point.label}: ${value(plot, part)}`;
    const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, {passive: true});
})();
