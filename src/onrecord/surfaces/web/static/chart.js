// Small charts over time: each element with data-chart holds {"times": [s since 1970], "values": [...]}.

import uPlot from "./vendor/uPlot.esm.js";

const style = document.createElement("link");
style.rel = "stylesheet";
style.href = document.querySelector("[data-chart-style]").dataset.chartStyle;
document.head.append(style);

function draw(place) {
  const { times, values } = JSON.parse(place.dataset.chart);
  if (times.length < 2) return;
  // light-dark() is not a colour that a canvas understands, so the colour in use is read off an element.
  const ink = getComputedStyle(place).color;
  const axis = { stroke: ink, grid: { stroke: "#8884", width: 1 }, ticks: { show: false }, size: 44 };
  const clock = (plot, marks) => marks.map((at) => new Date(at * 1000).toISOString().slice(11, 16));
  new uPlot(
    {
      width: place.clientWidth,
      height: 140,
      legend: { show: false },
      cursor: { show: false },
      // Times are in UTC, as everywhere on the pages; heights count from nothing, so that they can be compared.
      axes: [{ ...axis, size: 24, space: 48, incrs: [60, 300, 600, 900, 1800], values: clock }, axis],
      scales: { x: { range: (plot, first, last) => [Math.min(first, last - 300), last] }, y: { range: (plot, least, most) => [0, Math.max(1, most * 1.1)] } },
      series: [{}, { stroke: "#2f7d6b", width: 2, fill: "#2f7d6b33", points: { show: times.length < 3 } }],
    },
    [times, values],
    place,
  );
}

document.querySelectorAll("[data-chart]").forEach(draw);
