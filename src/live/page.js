// SPDX-License-Identifier: Apache-2.0
// The page of coretap live: draws what /api/events sends twice a second, and posts what is to be exchanged.
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

// Rows of a table, one for each of `items`, kept by key: what did not change is not touched, and what has the
// focus keeps it. `cells` gives for each column a text, [text, class], or a function that makes what stands
// there once.
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
const time = s => s < 120 ? s.toFixed(0) + " s"
    : s < 7200 ? (s / 60).toFixed(0) + " min" : (s / 3600).toFixed(1) + " h";

// ---- plots ----

const W = 640, H = 220, L = 58, R = 12, T = 10, B = 26;

// Lines over time. Each of `lines`: {name, color, values}; `top` is the upper end, `label` gives its ticks
// and tips.
function chart(svg, legend, times, lines, top, label, filled) {
  const end = times.at(-1) || 1, x = t => L + (W - L - R) * t / end,
      y = v => H - B - (H - T - B) * Math.min(v / top, 1);
  let out = "";
  for (let i = 0; i <= 4; i++) {
    const v = top * i / 4;
    out += `<line class="tick" x1="${L}" x2="${W - R}" y1="${y(v)}" y2="${y(v)}"/><text x="${L - 8}" ` +
        `y="${y(v) + 4}" text-anchor="end">${label(v)}</text>`;
  }
  for (let i = 0; i <= 4; i++)
    out += `<text x="${x(end * i / 4)}" y="${H - 6}" ` +
        `text-anchor="${i === 4 ? "end" : i ? "middle" : "start"}">${time(end * i / 4)}</text>`;
  for (const line of lines) {
    const points = line.values.map((v, i) => x(times[i]).toFixed(1) + "," + y(v).toFixed(1));
    if (filled && points.length > 1)
      out += `<polygon points="${points.join(" ")} ${x(times.at(-1)).toFixed(1)},${y(0)} ` +
          `${x(times[0]).toFixed(1)},${y(0)}" style="fill:var(${line.color})" opacity=".14"/>`;
    out += `<polyline points="${points.join(" ")}" fill="none" style="stroke:var(${line.color})" ` +
        `stroke-width="2" stroke-linejoin="round"/>`;
  }
  times.forEach((t, i) => {
    const from = i ? (x(times[i - 1]) + x(t)) / 2 : L,
        to = i + 1 < times.length ? (x(t) + x(times[i + 1])) / 2 : W - R;
    const tip = time(t) + lines.map(l => "\n" + l.name + " " + label(l.values[i])).join("");
    out += `<rect x="${from.toFixed(1)}" y="${T}" width="${Math.max(0, to - from).toFixed(1)}" ` +
        `height="${H - T - B}" fill="transparent" data-tip="${tip}"/>`;
  });
  svg.innerHTML = out; // numbers and names of this file alone
  legend.replaceChildren(...lines.map(l => {
    const mark = make("i", {});
    mark.style.background = `var(${l.color})`;
    return make("span", {}, mark, l.name + " ", make("b", {}, label(l.values.at(-1) ?? 0)));
  }));
}

// A scale that ends at 1, 2 or 5 times a power of ten.
function ceiling(most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return unit * [1, 2, 5, 10].find(n => n * unit >= most);
}

// A histogram: a bar for each [from, to, count], cycles on a logarithmic axis.
function histogram(name, of) {
  const bars = of.histogram, h = 180, low = Math.log2(of.min + 1),
      high = Math.max(Math.log2(of.max + 2), low + 0.5), w = 420;
  const x = v => 10 + (w - 20) * Math.min(1, Math.max(0, (Math.log2(v + 1) - low) / (high - low)));
  const most = Math.max(...bars.map(b => b[2]));
  let out = `<line class="tick" x1="10" x2="${w - 10}" y1="${h - 46}" y2="${h - 46}"/>`;
  for (const [from, to, count] of bars) {
    const a = x(Math.max(from, of.min)), b = x(Math.min(to, of.max + 1)),
        tall = Math.max(1.5, (h - 84) * count / most);
    out += `<rect class="plot" x="${a.toFixed(1)}" y="${(h - 46 - tall).toFixed(1)}" ` +
        `width="${Math.max(1.5, b - a - 1).toFixed(1)}" height="${tall.toFixed(1)}" ` +
        `data-tip="${page.count(from)} to ${page.count(to - 1)} cycles: ${page.count(count)}"/>`;
  }
  out += `<text x="10" y="${h - 28}">${page.count(of.min)}</text><text x="${w - 10}" y="${h - 28}" ` +
      `text-anchor="end">${page.count(of.max)} cycles</text>`;
  out += `<text x="10" y="${h - 8}">${page.count(of.count)} runs, mean ${page.count(of.mean)}, 99 % up ` +
      `to ${page.count(of.p99)}</text>`;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${w} ${h}`);
  svg.innerHTML = out;
  const title = document.createElementNS("http://www.w3.org/2000/svg", "text");
  title.setAttribute("class", "title");
  title.setAttribute("x", 10);
  title.setAttribute("y", 18);
  title.textContent = name;
  svg.append(title);
  return make("figure", { className: "panel" }, svg);
}

// ---- the parts of the page ----

const card = (label, value, note) =>
  make("dl", { className: "card" }, make("dt", {}, label),
      make("dd", { className: "value" }, value), make("dd", {}, note));

function drawCards(s) {
  const cards = [card("Analysed", bytes(s.input.analysed),
      `${bytes(s.input.rate)}/s for ${time(s.seconds)}`)];
  if (s.cover) {
    const of = (name, [seen, all]) => card(name, page.percent(seen, all),
        `${page.count(seen)} of ${page.count(all)}`);
    cards.push(of("Lines", s.cover.lines), of("Branches", s.cover.branches));
  }
  cards.push(card("Violations", page.short(s.violations), `${s.monitors.length} monitors`));
  cards.push(card("Dropped", bytes(s.input.lost),
      s.input.drops ? `at ${page.count(s.input.losses)} places` : "the sender waits"));
  if (s.input.reconnects)
    cards.push(card("Connection", s.input.waits ? "none" : `number ${page.count(s.input.connections)}`,
      `for ${time(s.input.since)}; ` + (s.input.waits ? `${page.count(s.input.tries)} attempts`
          : `${page.count(s.input.breaks)} breaks in the trace`)));
  if (s.input.tee)
    cards.push(card("Kept", bytes(s.input.kept),
        s.input.tee_trouble ? `no more: ${s.input.tee_trouble}` : `in ${s.input.tee}`));
  cards.push(card("Waiting", page.percent(s.input.fill, s.input.ring), `memory ${bytes(s.memory)}`));
  $("cards").replaceChildren(...cards);
}

function drawPlots(s) {
  const times = s.history.map(h => h[0]), column = i => s.history.map(h => h[i]);
  $("cover-panel").hidden = !s.cover;
  if (s.cover)
    chart($("cover-chart"), $("cover-legend"), times, [
      { name: "functions", color: "--c1", values: column(4) },
      { name: "lines", color: "--c0", values: column(2) },
      { name: "branches", color: "--c2", values: column(3) }],
      1, v => (100 * v).toFixed(v && v < 1 ? 1 : 0) + " %", false);
  const rate = column(1);
  chart($("rate-chart"), $("rate-legend"), times, [{ name: "bytes a second", color: "--c5", values: rate }],
    ceiling(Math.max(1, ...rate)), v => page.short(v), true);
}

function drawTrace(s) {
  rows($("streams"), s.streams, x => x.id, x => [x.id, x.core, x.protocol, num(x.bytes), num(x.instructions),
    num(x.branches), num(x.gaps), num(x.lost_bytes), num(x.bad_packets), num(x.no_access)]);
  setText($("dropped"), s.input.lost
    ? `${page.count(s.input.lost)} of ${page.count(s.input.read)} bytes were dropped before they were ` +
      `analysed, at ${page.count(s.input.losses)} places.`
    : "Nothing was dropped on the way in.");
  rows($("edges"), s.edges, e => e.id + e.addr + e.to + e.count + e.function, e => [
    [e.function ?? "", "name"], e.line ? e.file + ":" + e.line : "", ["0x" + e.addr, "name"],
    [e.to === "0" ? "not known" : "0x" + e.to, "name"], e.id, num(e.count),
    num(e.cycles), [e.timed ? (e.cycles / e.timed).toFixed(1) : "-", "num"], num(e.min), num(e.max)]);
}

function drawTimes(s) {
  $("timing").hidden = !s.timing;
  if (!s.timing) return;
  const plots = [...s.timing.pairs, ...s.timing.functions].filter(f => f.histogram?.length).slice(0, 6);
  if (!plots.some(() => document.querySelector("#plots :hover")))
    $("plots").replaceChildren(...plots.map(f => histogram(
        s.streams.length > 1 ? `${f.name} (ID ${f.id})` : f.name, f)));
  const share = f => f.cycles === undefined ? "" : page.percent(f.cycles, s.timing.cycles);
  rows($("functions"), [...s.timing.pairs, ...s.timing.functions], f => f.id + " " + f.name, f => [
    [f.name, "name"], f.id, f.cycles === undefined ? "" : num(f.cycles), share(f), num(f.runs ?? f.count),
    ...["min", "mean", "p99", "max"].map(key => f.count ? num(f[key]) : ["-", "num"])]);
}

const small = (text, action) => () => {
  const button = make("button", { type: "button", className: "small" }, text);
  button.addEventListener("click", action);
  return button;
};

function drawWatch(s) {
  const last = w => w.last ? `cycle ${page.count(w.last.cycle)}, ${w.last.kind} ${place(w.last)}` : "not yet";
  rows($("places"), s.watchpoints, w => w.place, w => [[w.place, "name place"], num(w.hits), last(w),
    small("Remove", () => post("watch", { remove: [w.place] }, $("watch-said")))]);
  rows($("events"), s.events.map((e, i) => ({ ...e, i })), e => "" + e.i, e => [
    [e.place, "name place"], e.event.id,
    [page.count(e.event.cycle), "num"], e.event.kind, [place(e.event), "name"]]);
}

function drawMonitors(s) {
  const state = m => m.failure ? ["failed", "badge bad"]
      : m.violations ? ["violated", "badge bad"] : ["holds", "badge good"];
  rows($("monitors"), s.monitors, m => m.name + "\n" + (m.failure ?? "") + (m.violations > 0), m => [
    [m.name, "name"],
    () => {
      const [text, style] = state(m);
      return make("span", { className: style, title: m.failure ?? "" }, text);
    },
    num(m.results), num(m.violations),
    small("Remove", () => post("monitors", { action: "remove", name: m.name }, $("monitor-said")))]);
  const kind = v => v.violation ? (v.uncertain ? "violation, uncertain" : "violation") : "";
  rows($("verdicts"), s.verdicts.map((v, i) => ({ ...v, i })), v => "" + v.i, v => [
    [v.monitor.split("/").pop(), "name"],
    [v.output + (v.value === "()" ? "" : " = " + v.value), "name"], kind(v), [page.count(v.time), "num"],
    [v.event ? place(v.event) : "", "name"]]);
}

let newest = null;

function draw(s) {
  newest = s;
  $("state").className = "badge " + (s.state === "running" ? "good" : "");
  setText($("state"), s.state);
  setText($("input"), s.input.name === "-" ? "standard input" : s.input.name);
  drawCards(s);
  drawPlots(s);
  drawTrace(s);
  drawTimes(s);
  drawWatch(s);
  drawMonitors(s);
}

// ---- what is exchanged ----

async function post(what, body, said) {
  let text = "", fine = false;
  try {
    const answer = await fetch(where("api/" + what), { method: "POST",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const json = await answer.json();
    fine = answer.ok;
    text = fine ? json.done : json.error;
  } catch (error) {
    text = "no answer: " + error.message;
  }
  said.className = "said " + (fine ? "good" : "bad");
  said.textContent = text;
  return fine;
}

function onSubmit(form, action) {
  $(form).addEventListener("submit", event => {
    event.preventDefault();
    action();
  });
}

onSubmit("watch-form", async () => {
  const added = await post("watch", { add: [$("watch-place").value.trim()] }, $("watch-said"));
  if (added) $("watch-place").value = "";
});
onSubmit("monitor-form", () => {
  const name = $("monitor-name").value.trim(), known = newest?.monitors.some(m => m.name === name);
  post("monitors", { action: known ? "replace" : "add", name, text: $("monitor-text").value },
      $("monitor-said"));
});
onSubmit("filter-form", () => {
  const words = id => $(id).value.split(/[\s,]+/).filter(Boolean);
  post("filter", { ids: words("filter-ids"), contexts: words("filter-contexts"),
      levels: words("filter-levels").map(Number) }, $("filter-said"));
});
$("stop").addEventListener("click", () => post("stop", {}, $("filter-said")));

const events = new EventSource(where("api/events"));
events.onmessage = event => draw(JSON.parse(event.data));
events.onerror = () => {
  if (newest?.state === "ended") events.close();
  else setText($("state"), "not connected");
};
