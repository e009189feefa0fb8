// SPDX-License-Identifier: Apache-2.0
// Functions that all pages share. Loads nothing from a network.
const page = {
  // 1234567 -> "1,234,567"
  count: n => Math.round(n).toLocaleString("en-US"),
  mean: n => n.toLocaleString("en-US", {minimumFractionDigits: 1, maximumFractionDigits: 1}),

  // At most four digits: 1234567 -> "1.23 M"
  short(n) {
    if (Math.abs(n) < 1e4) return page.count(n);
    let unit = 0;
    for (n /= 1000; Math.abs(n) >= 999.95 && unit < 5; unit++) n /= 1000;
    return n.toFixed(Math.abs(n) < 99.995 ? 2 : 1) + " " + "kMGTPE"[unit];
  },

  // Only nothing is "0.0 %", and only the whole is "100.0 %".
  percent: (part, all) => !all ? "-" : part > 0 && part * 1000 < all ? "<0.1 %"
      : (Math.floor(part * 1000 / all) / 10).toFixed(1) + " %",

  // Shows `text` as a tip beside a position in the window; null hides the tip.
  tip(text, x, y) {
    let box = document.querySelector(".tip");
    if (!box) {
      box = document.createElement("div");
      box.className = "tip";
      box.setAttribute("role", "tooltip");
      document.body.append(box);
    }
    box.hidden = text === null;
    if (text === null) return;
    box.textContent = text;
    const size = box.getBoundingClientRect();
    box.style.left = Math.max(4, Math.min(x + 14, innerWidth - size.width - 8)) + "px";
    box.style.top = (y + 18 + size.height > innerHeight ? Math.max(4, y - size.height - 10) : y + 18) + "px";
  },

  // Sorts a table by the column of a heading's button: by data-v of the cells, or by their text without it.
  sort(button) {
    const head = button.closest("th"), table = head.closest("table"), column = head.cellIndex;
    const down = head.getAttribute("aria-sort") !== "descending";
    const value = row => {
      const cell = row.cells[column], text = cell.dataset.v ?? cell.textContent.trim();
      return text !== "" && !isNaN(text) ? Number(text) : text;
    };
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = (a, b) => a === b ? 0
        : typeof a === typeof b ? (a < b ? -1 : 1) : typeof a === "number" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map(row => [value(row), row]).sort((a, b) => order(a[0], b[0]));
    table.tBodies[0].append(...(down ? rows.reverse() : rows).map(pair => pair[1]));
  },
};

document.addEventListener("mousemove", event => {
  const at = event.target.closest?.("[data-tip]");
  if (at) page.tip(at.dataset.tip, event.clientX, event.clientY);
  else if (!event.target.closest?.(".lanes")) page.tip(null);
});
document.addEventListener("click", event => {
  const button = event.target.closest?.("th button");
  if (button) page.sort(button);
});

// Marks the link to the section being read: the last one that begins in the upper third of the window, at the
// top of the page the first one, and at its end the last one.
const ways = [...document.querySelectorAll(".nav a")];
const mark = () => {
  const begun = ways.filter(way =>
      document.querySelector(way.hash)?.getBoundingClientRect().top < innerHeight / 3);
  const rest = document.documentElement.scrollHeight - innerHeight - scrollY;
  const now = scrollY < 1 ? ways[0] : rest < 1 ? ways[ways.length - 1] : begun[begun.length - 1] || ways[0];
  if (now.hasAttribute("aria-current")) return;
  for (const way of ways) way.removeAttribute("aria-current");
  now.setAttribute("aria-current", "true");
  const list = now.closest("ul"); // scrolls when the links do not fit
  list.scrollLeft = now.offsetLeft - (list.clientWidth - now.offsetWidth) / 2;
};
if (ways.length) {
  addEventListener("scroll", mark, {passive: true});
  mark();
}
