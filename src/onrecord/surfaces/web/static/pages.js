// What pages gain from scripts: keys, the slider of the time bar, questions before what cannot be undone, pictures.
// Without it every page reads and every form works.

const typing = (element) =>
  element.closest("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]") !== null;
const entries = () => [...document.querySelectorAll("[data-entry]")];

function step(by) {
  const all = entries();
  if (!all.length) return;
  const at = all.findIndex((each) => each.classList.contains("chosen"));
  const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  all.forEach((each) => each.classList.toggle("chosen", each === next));
  next.scrollIntoView({ block: "nearest" });
  next.querySelector("a, button")?.focus({ preventScroll: true });
}

function fill(opened) {
  if (!opened?.open || opened.contains(document.activeElement?.closest("input, textarea"))) return;
  if ("focus" in opened.dataset) opened.querySelector("input:not([type=hidden]), textarea")?.focus();
}

// At once, since what is typed next may be the beginning of a text and no key.
function press(button) {
  button.click();
  fill(button.closest("details"));
}

const keys = {
  "/": () => document.querySelector("[data-question]")?.focus(),
  n: () => document.querySelector("[data-now]")?.click(),
  j: () => step(1),
  k: () => step(-1),
  "?": () => document.getElementById("keys")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const chosen = document.querySelector("[data-entry].chosen");
  // A page may give an entry buttons with keys of their own.
  const button = chosen?.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  const act = button ? () => press(button) : keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// The slider of the time bar chooses one of the moments at which something changed; its last place is now.
const momentsOf = (slider) => slider.dataset.moments.trim().split(/\s+/).filter(Boolean);

// Each place of the slider is a page of its own; the slider takes the cursor there, for the next step.
const SLID = "slid";

function openSlider(slider) {
  const moments = momentsOf(slider);
  const chosen = [...slider.form.querySelectorAll("[data-clock]")].map((clock) => clock.value).findLast(Boolean) ?? "";
  const after = moments.findIndex((each) => Date.parse(each) > Date.parse(chosen));
  slider.max = moments.length;
  slider.value = chosen ? (after < 0 ? moments.length : after) - 1 : moments.length;
  slider.setAttribute("aria-valuetext", chosen || "now");
  slider.closest("label").hidden = moments.length === 0;
  if (sessionStorage.getItem(SLID)) {
    sessionStorage.removeItem(SLID);
    slider.focus({ preventScroll: true });
  }
}

for (const slider of document.querySelectorAll("[data-moments]")) openSlider(slider);
for (const slider of document.querySelectorAll("[data-moments-from]")) {
  fetch(slider.dataset.momentsFrom, { headers: { accept: "application/json" } })
    .then((answer) => (answer.ok ? answer.json() : []))
    .then((moments) => {
      slider.dataset.moments = moments.join(" ");
      openSlider(slider);
    });
}
document.addEventListener("input", (event) => {
  const slider = event.target;
  if (!slider.matches("[data-moments]")) return;
  const chosen = momentsOf(slider)[Number(slider.value)] ?? "";
  slider.setAttribute("aria-valuetext", chosen || "now");
  for (const clock of slider.form.querySelectorAll("[data-clock]")) clock.value = chosen;
});
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-moments]")) return;
  sessionStorage.setItem(SLID, "yes");
  event.target.form.requestSubmit();
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// What scrolls in itself is reached by keyboard; not every browser sees to that.
function reach() {
  for (const each of document.querySelectorAll(".text, .wide, pre")) {
    if (each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1) each.tabIndex = 0;
  }
}

reach();
document.addEventListener("htmx:afterSettle", reach);

// What opens to be filled in takes the cursor, and Escape closes it.
document.addEventListener("toggle", (event) => fill(event.target), true);
document.addEventListener("toggle", reach, true);
document.addEventListener("keydown", (event) => {
  const around = event.key === "Escape" && event.target.closest("details[data-focus][open]");
  if (!around) return;
  around.open = false;
  around.querySelector("summary").focus();
});

document.getElementById("refused")?.focus();
// On a phone the names of pages are a strip, in which the one that is open is in sight.
for (const open of document.querySelectorAll(".top nav [aria-current], .tabs [aria-current]")) {
  const strip = open.parentElement;
  strip.scrollLeft = open.offsetLeft - (strip.clientWidth - open.offsetWidth) / 2;
}
// The entry that a page was opened for.
const chosen = document.querySelector("[data-entry].chosen");
if (chosen && !document.getElementById("refused")) {
  // Beside a picture the picture comes first.
  if (chosen.closest("#results")) chosen.scrollIntoView({ block: "center" });
  chosen.querySelector("a, button")?.focus({ preventScroll: true });
}

// Pictures are loaded by the pages that have them.
if (document.querySelector("[data-graph]")) import("./graph.js");
if (document.querySelector("[data-chart]")) import("./chart.js");
