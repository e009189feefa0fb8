// SPDX-License-Identifier: Apache-2.0
// Functions that the parts of the live page share.
const $ = id => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token");
const where = path => path + (token === null ? "" : "?token=" + encodeURIComponent(token));

function make(tag, properties, ...children) {
  const node = document.createElement(tag);
  Object.assign(node, properties);
  node.append(...children);
  return node;
}

const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

// Updates the rows of a table, one for each of `items`, by key. Does not touch what did not change, so that
// an element with the focus keeps it. `cells` returns for each column a text, [text, class], or a function
// that makes the content once.
function rows(body, items, key, cells) {
  const old = new Map([...body.rows].map(row => [row.dataset.key, row]));
  items.forEach((item, at) => {
    const name = key(item), columns = cells(item);
    let row = old.get(name);
    old.delete(name);
    if (!row) {
      row = make("tr", {}, ...columns.map(c => make("td", {}, ...(typeof c === "function" ? [c()] : []))));
      row.dataset.key = name;
    }
    columns.forEach((column, i) => {
      if (typeof column === "function") return;
      const [text, style] = Array.isArray(column) ? column : [column, ""];
      setText(row.cells[i], text);
      if (row.cells[i].className !== style) row.cells[i].className = style;
    });
    if (body.rows[at] !== row) body.insertBefore(row, body.rows[at] ?? null);
  });
  for (const row of old.values()) row.remove();
}

const num = n => [page.short(n), "num"];
const bytes = n => page.short(n).replace(/^([^ ]*)$/, "$1 ") + "B";
const place = e => e.function ? e.function + (e.line ? " (" + e.file + ":" + e.line + ")" : "")
    : e.addr ? "0x" + e.addr : "";
// Returns the place of an event, and its core when there are several.
const onCore = (e, several) => [place(e), several && e.core ? `on ${e.core}` : ""].filter(Boolean).join(" ");
// Returns why a result is uncertain, for example because the order of two events is not known.
const doubt = r => !r.uncertain ? "" : !r.doubt ? "uncertain"
    : "uncertain: which came first is not known, " +
      r.doubt.map(e => `${e.watch} ${onCore(e, true)}`).join(", or ");
const output = r => r.output + (r.instance ? `@${r.instance}` : "") +
    (r.value === "()" ? "" : " = " + r.value);
const time = s => s < 120 ? s.toFixed(0) + " s"
    : s < 7200 ? (s / 60).toFixed(0) + " min" : (s / 3600).toFixed(1) + " h";
