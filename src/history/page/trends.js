// Connects the points of each series. A second path for each series in the page would make the file larger.
for (const spots of document.querySelectorAll(".spots")) {
  const trend = spots.cloneNode();
  trend.setAttribute("class", "trend");
  trend.removeAttribute("data-labels");
  const points = spots.getAttribute("d").replaceAll("h0", "").split("M").slice(1);
  trend.setAttribute("d", "M" + points.join("L"));
  spots.before(trend);
}
(() => {
  const filter = document.querySelector(".filter");
  if (!filter) return;
  filter.hidden = false;
  filter.addEventListener("input", event => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const part of document.querySelectorAll(".changes tbody tr, .index a, section.series")) {
      const name = part.querySelector("th, b, h2").textContent.toLowerCase();
      part.hidden = !words.every(word => name.includes(word));
    }
  });
})();
