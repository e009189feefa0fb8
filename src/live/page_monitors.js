// SPDX-License-Identifier: Apache-2.0
// The monitors of the live page: a row for each, which can be opened. The content of rows comes with the
// events. The details inside are requested while the row is open and visible.
const monitors = {
  rows: new Map(), // by number: {m, node, head, body, open, stale, details}
  shown: "",       // the state that the list is filtered by
  words: { failed: "failed", violated: "violated", uncertain: "uncertain", holds: "hold", waits: "wait" },

  state(m) {
    if (m.failure) return { key: "failed", text: "failed", badge: "badge bad" };
    if (m.violations) return { key: "violated", text: "violated", badge: "badge bad" };
    if (m.doubt !== undefined) return { key: "uncertain", text: "uncertain", badge: "badge warn" };
    if (!m.results) return { key: "waits", text: "no result", badge: "badge" };
    return { key: "holds", text: "holds", badge: "badge good" };
  },

  // Returns the last value of an output.
  value(o) {
    if (o.value === undefined) return `${o.name}: -`;
    const value = o.value === "()" ? page.short(o.count) + " times" : o.value;
    return `${o.name} = ${value}${o.unit ? " " + o.unit : ""}${o.doubt === undefined ? "" : " ?"}`;
  },

  timeUnit() { return known.time_unit; },

  // ---- the list ----

  make(m) {
    const badge = make("span", {}), what = make("span", { className: "what" }),
        values = make("span", { className: "values" }), count = make("span", { className: "count" });
    const head = make("button", { type: "button", className: "head", ariaExpanded: "false" }, badge, what,
        values, count);
    const body = make("div", { className: "body", hidden: true });
    const node = make("article", { className: "monitor" }, head, body);
    node.dataset.number = m.number;
    const row = { m, node, head, body, badge, what, values, count, open: false, stale: true, details: null };
    head.addEventListener("click", () => monitors.open(row, !row.open));
    return row;
  },

  open(row, open) {
    row.open = open;
    row.head.ariaExpanded = String(open);
    row.body.hidden = !open;
    row.stale = true;
    $("fold").hidden = ![...monitors.rows.values()].some(one => one.open);
    if (open) monitors.look(row);
  },

  drawHead(row) {
    const m = row.m, state = monitors.state(m);
    row.badge.className = state.badge;
    setText(row.badge, state.text);
    setText(row.what, m.name.split("/").pop());
    row.what.title = m.name;
    setText(row.values, m.outputs.map(monitors.value).join("; "));
    const bad = m.violations ? [make("b", {}, page.short(m.violations)),
        m.violations === 1 ? " violation" : " violations"] : [];
    row.count.replaceChildren(...bad, bad.length ? " in " : "", page.short(m.results) + " results");
  },

  isShown(m) {
    const text = $("monitor-filter").value.trim().toLowerCase();
    return (!monitors.shown || monitors.state(m).key === monitors.shown) &&
        (!text || (m.name + "\n" + m.outputs.map(monitors.value).join("\n")).toLowerCase().includes(text));
  },

  // Hides the rows that do not pass the filter, and shows how many rows each state has.
  filter() {
    const counts = {}, all = [...monitors.rows.values()];
    let hidden = 0;
    for (const row of all) {
      const key = monitors.state(row.m).key;
      counts[key] = (counts[key] ?? 0) + 1;
      const hide = !monitors.isShown(row.m) && !row.node.contains(editor.node);
      if (row.node.hidden !== hide) row.node.hidden = hide;
      hidden += hide;
    }
    monitors.drawChips(counts, all.length);
    setText($("monitor-none"), !all.length ? "No specification runs."
        : hidden ? `${hidden} of ${all.length} are left out by the filter.` : "");
  },

  drawChips(counts, all) {
    const chips = [["", all, "all"], ...Object.keys(monitors.words)
        .filter(key => counts[key] || key === monitors.shown)
        .map(key => [key, counts[key] ?? 0, monitors.words[key]])];
    const text = JSON.stringify([chips, monitors.shown]);
    if (monitors.drawn === text) return;
    monitors.drawn = text;
    const focus = document.activeElement?.dataset.state;
    $("chips").replaceChildren(...(all ? chips : []).map(([key, count, word]) => {
      const chip = make("button", { type: "button", className: "small",
        ariaPressed: String(key === monitors.shown) }, `${count} ${word}`);
      chip.dataset.state = key;
      chip.addEventListener("click", () => { monitors.shown = key; monitors.filter(); });
      return chip;
    }));
    if (focus !== undefined) $("chips").querySelector(`[data-state="${focus}"]`)?.focus();
  },

  // Stores and draws the specifications that changed.
  take(changed, news) {
    const first = !monitors.rows.size;
    for (const m of changed) {
      let row = monitors.rows.get(m.number);
      if (!row) {
        row = monitors.make(m);
        monitors.rows.set(m.number, row);
        $("monitors").append(row.node);
        if (first && changed.length <= 2) monitors.open(row, true);
      }
      row.m = m;
      row.stale = true;
      monitors.drawHead(row);
    }
    if (news.numbers) monitors.drop(new Set(news.numbers));
    for (const details of news.details ?? []) {
      const row = monitors.rows.get(details.number);
      if (row?.open) monitors.drawBody(row, details);
    }
    if (changed.length || news.numbers) monitors.filter();
  },

  drop(numbers) {
    for (const [number, row] of monitors.rows) {
      if (numbers.has(number)) continue;
      if (row.node.contains(editor.node)) editor.close();
      row.node.remove();
      monitors.rows.delete(number);
    }
  },

  // ---- the details of a row ----

  // Requests the details of a row, and draws them.
  async look(row) {
    row.stale = false;
    try {
      const path = where("api/monitor"), sign = path.includes("?") ? "&" : "?";
      const answer = await fetch(`${path}${sign}name=${encodeURIComponent(row.m.name)}`);
      if (answer.ok) monitors.drawBody(row, await answer.json());
      else row.stale = answer.status === 503;
    } catch {
      row.stale = true; // requested again while the run lasts
    }
  },

  isInSight(row) {
    const box = row.node.getBoundingClientRect();
    return !row.node.hidden && box.bottom > -200 && box.top < innerHeight + 200;
  },

  // Requests the details of rows that are open, visible and out of date. Called once a second.
  async refresh() {
    if (document.hidden || known.state !== "running") return;
    for (const row of monitors.rows.values())
      if (row.open && row.stale && monitors.isInSight(row)) await monitors.look(row);
  },

  drawBody(row, details) {
    row.details = details;
    if (!row.parts) monitors.makeBody(row);
    const p = row.parts;
    setText(p.why, row.m.failure ? `${row.m.failure}; it takes no more events` : "");
    p.why.hidden = !row.m.failure;
    p.doubt.hidden = details.doubt === undefined;
    if (details.doubt !== undefined)
      setText(p.doubt, `Uncertain since ${page.count(details.doubt)} ${monitors.timeUnit()}: trace that is ` +
          "missing may have changed what it says.");
    monitors.drawOutputs(p, details);
    monitors.drawPlots(p, details);
    monitors.drawViolations(p, details);
    monitors.drawText(row, details);
  },

  makeBody(row) {
    const list = (...names) => make("table", { className: "list" }, make("thead", {}, make("tr", {},
        ...names.map(name => make("th", { className: name.startsWith("#") ? "num" : "" },
            name.replace("#", ""))))), make("tbody", {}));
    const p = { why: make("p", { className: "why" }), doubt: make("p", { className: "why warn" }),
      outputs: list("Output", "Last value", "#Time", "#Events", "#Violations"),
      left: make("p", { className: "none" }), plots: make("div", {}),
      bad: list("#Time", "Output", "Where", ""), none: make("p", { className: "none" }, "None."),
      recent: list("#Time", "Output", "Where"),
      more: make("details", {}, make("summary", {}, "Last results")),
      text: make("pre", { className: "text" }),
      binds: make("p", { className: "none" }), actions: make("div", { className: "actions" }) };
    p.more.append(make("div", { className: "high" }, p.recent));
    p.outputs.className += " outputs";
    row.parts = p;
    row.body.replaceChildren(p.why, p.doubt, make("h4", {}, "Outputs"), p.outputs, p.left, p.plots,
        make("h4", {}, "Last violations"), p.none, p.bad, p.more,
        make("h4", {}, "Specification"), p.text, p.binds, p.actions);
    const edit = make("button", { type: "button", className: "edit-it" }, "Edit");
    edit.addEventListener("click", () => editor.open(row.body, row.details));
    const remove = make("button", { type: "button", className: "remove-it" }, "Remove");
    twice(remove, "Remove it?",
        () => post("monitors", { action: "remove", name: row.m.name }, $("monitor-said")));
    const save = make("a", { className: "name", download: row.m.name.split("/").pop() + ".csv" },
        "Last results as CSV");
    const path = where("api/outputs"), sign = path.includes("?") ? "&" : "?";
    save.href = `${path}${sign}format=csv&name=${encodeURIComponent(row.m.name)}`;
    p.actions.append(edit, remove, save);
  },

  drawOutputs(p, details) {
    rows(p.outputs.tBodies[0], details.outputs, o => o.name, o => [[o.name, "name"],
      [o.value === undefined ? "not yet" : o.value + (o.unit ? " " + o.unit : "") +
          (o.doubt === undefined ? "" : ", uncertain"), "name"],
      [o.time === undefined ? "" : page.count(o.time), "num"], num(o.count), num(o.violations)]);
    const left = details.outputs_left_out;
    setText(p.left, left ? `${left} more outputs are not shown.` : "");
  },

  drawPlots(p, details) {
    if (p.plots.matches(":hover")) return; // a tip that is being read stays
    const unit = o => o.unit ?? "";
    p.plots.replaceChildren(...details.outputs.filter(o => o.plot?.points.length).map(o =>
      make("figure", {}, make("figcaption", {}, make("b", {}, o.name), unit(o) ? ` in ${unit(o)}` : "",
          `; ${number(o.plot.low)} to ${number(o.plot.high)}, mean ${number(o.plot.mean)}, ` +
          `${page.short(o.plot.count)} values`),
          make("div", { className: "pair" }, valuesOverTime(o.plot, unit(o), monitors.timeUnit()),
              valuesBySize(o.plot, unit(o))))));
  },

  where(r) {
    return r.event ? onCore(r.event, known.streams.length > 1) : "";
  },

  drawViolations(p, details) {
    const bad = details.last_violations, recent = details.last_results;
    p.bad.hidden = !bad.length;
    p.none.hidden = bad.length > 0;
    p.more.hidden = !recent.length;
    rows(p.bad.tBodies[0], bad, r => "" + r.number, r => [[page.count(r.time), "num"], [output(r), "name"],
      [monitors.where(r), "name"], [doubt(r), "name"]]);
    if (p.more.open)
      rows(p.recent.tBodies[0], recent, r => "" + r.number, r => [[page.count(r.time), "num"],
        [output(r), "name"], [monitors.where(r), "name"]]);
  },

  drawText(row, details) {
    const p = row.parts, ended = known.state === "ended";
    if (p.text.dataset.text !== (details.text ?? "")) {
      p.text.dataset.text = details.text ?? "";
      const lines = (details.text ?? "").replace(/\n$/, "").split("\n");
      p.text.replaceChildren(...lines.map(line => make("span", {}, line)));
    }
    p.text.hidden = details.text === null;
    const binds = Object.entries(details.bind).map(([input, place]) => `${input} = ${place}`);
    setText(p.binds, (details.text === null ? "Its text is not known here. " : "") +
        (binds.length ? "Bound: " + binds.join(", ") : ""));
    for (const button of p.actions.querySelectorAll("button")) button.disabled = ended;
  },
};

$("monitor-filter").addEventListener("input", () => monitors.filter());
$("fold").addEventListener("click", () => {
  for (const row of monitors.rows.values()) if (row.open) monitors.open(row, false);
});
$("monitor-new").addEventListener("click", () => editor.open($("monitor-add"), null));
setInterval(() => monitors.refresh(), 1000);
