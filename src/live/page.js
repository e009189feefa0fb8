// SPDX-License-Identifier: Apache-2.0
// The page of coretap live: draws the changes that come from /api/events, and posts requests.

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
    if (s.cover.in_no_program[0])
      cards.push(of("Instructions in no program", s.cover.in_no_program));
  }
  cards.push(card("Violations", page.short(s.violations), `in ${page.short(s.results)} results of ` +
      `${s.monitors.size} monitor${s.monitors.size === 1 ? "" : "s"}`));
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
      1, v => page.percent(v, 1), false);
  const rate = column(1);
  chart($("rate-chart"), $("rate-legend"), times, [{ name: "bytes a second", color: "--c5", values: rate }],
    ceiling(Math.max(1, ...rate)), v => page.short(v), true);
}

// Says what makes the order of events over cores uncertain: restarts, and sources that nobody waited for.
function drawOrder(s) {
  const source = x => `ID ${x.id}${x.core ? ` (${x.core})` : ""}`;
  const parts = [
    ...s.restarts.map(x => `${source(x)}: its timestamps went back ${page.count(x.times)} ` +
      `${x.times === 1 ? "time" : "times"}, as when the target starts again; results that look back beyond ` +
      "that are uncertain."),
    ...s.not_waited_for.map(x => `${source(x)}: other sources did not wait for its timestamps, and ` +
      `${page.count(x.late)} of its events came too late.`)];
  $("order").hidden = !parts.length;
  setText($("order"), parts.join(" "));
}

function drawTrace(s) {
  drawOrder(s);
  rows($("streams"), s.streams, x => x.id, x => [x.id, x.core, x.protocol, num(x.bytes), num(x.instructions),
    num(x.branches), num(x.gaps), num(x.lost_bytes), num(x.bad_packets), num(x.no_access)]);
  setText($("dropped"), s.input.lost
    ? `${page.count(s.input.lost)} of ${page.count(s.input.read)} bytes were dropped before they were ` +
      `analysed, at ${page.count(s.input.losses)} places.`
    : "Nothing was dropped on the way in.");
  rows($("edges"), s.edges, e => e.id + e.addr + e.to + e.count + e.function, e => [
    [e.function ?? "", "name first"], [e.line ? e.file + ":" + e.line : "", "spot"], ["0x" + e.addr, "name"],
    [e.to === "0" ? "not known" : "0x" + e.to, "name"], e.id, num(e.count),
    num(e.cycles), [e.timed ? page.mean(e.cycles / e.timed) : "-", "num"], num(e.min), num(e.max)]);
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
    [f.name, "name first"], f.id, f.cycles === undefined ? "" : num(f.cycles), [share(f), "num"],
    num(f.runs ?? f.count),
    ...["min", "mean", "p99", "max"].map(key => f.count ? num(f[key]) : ["-", "num"])]);
}

const small = (text, action) => () => {
  const button = make("button", { type: "button", className: "small" }, text);
  button.addEventListener("click", action);
  return button;
};

function drawWatch(s) {
  const last = w => w.last ? `cycle ${page.count(w.last.cycle)}, ${w.last.kind} ${place(w.last)}` : "not yet";
  rows($("places"), s.watchpoints, w => w.place, w => [[w.place, "name place first"], num(w.hits),
    [last(w), "last"],
    small("Remove", () => post("watch", { remove: [w.place] }, $("watch-said")))]);
  rows($("events"), s.events.map((e, i) => ({ ...e, i })), e => "" + e.i, e => [
    [e.place, "name place first"], e.event.id, [page.count(e.event.cycle), "num"], e.event.kind,
    [onCore(e.event, s.streams.length > 1), "name last"]]);
}

function drawVerdicts(s) {
  const kind = v => [v.violation ? "violation" : "", doubt(v)].filter(Boolean).join(", ");
  rows($("verdicts"), s.verdicts.map((v, i) => ({ ...v, i })), v => "" + v.i, v => [
    [v.monitor.split("/").pop(), "name"],
    [output(v), "name"], [kind(v), "name"], [page.count(v.time), "num"],
    [v.event ? onCore(v.event, s.streams.length > 1) : "", "name"]]);
}

// The current state: members of the status, and the specifications by number.
const known = { monitors: new Map() };

// Stores the changes of an event, and draws them.
function take(news) {
  const { changed, ...members } = news;
  Object.assign(known, members);
  for (const m of changed) known.monitors.set(m.number, m);
  if (news.numbers) {
    const numbers = new Set(news.numbers);
    for (const number of known.monitors.keys()) if (!numbers.has(number)) known.monitors.delete(number);
  }
  const has = (...keys) => keys.some(key => key in news);
  if (has("progress")) drawProgress(known.progress);
  $("state").className = "badge " + (known.state === "running" ? "good" : "warn");
  setText($("state"), known.state === "ended" ? "the run has ended" : known.state);
  setText($("input"), known.input.name === "-" ? "standard input" : known.input.name);
  monitors.take(changed, news);
  drawCards(known);
  if (has("history", "cover")) drawPlots(known);
  if (has("streams", "input", "edges")) drawTrace(known);
  if (has("timing", "streams")) drawTimes(known);
  if (has("watchpoints", "events")) drawWatch(known);
  if (has("verdicts")) drawVerdicts(known);
  if (known.state === "ended") {
    for (const control of document.querySelectorAll("form button, #stop, #monitor-new"))
      control.disabled = true;
    drawReport(known);
  }
}

// ---- the end ----

function saveReport() {
  const text = JSON.stringify({ ...known, monitors: [...known.monitors.values()] }, null, 2);
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })),
      download: "coretap-live.json" });
  link.click();
  URL.revokeObjectURL(link.href);
}

// Draws the end of a run: totals, the result of each specification, losses, and paths of the reports.
function drawReport(s) {
  const all = [...s.monitors.values()], losses = s.losses;
  const of = state => all.filter(m => monitors.state(m).key === state).length;
  const words = all.length ? ["violated", "failed", "uncertain", "holds", "waits"].filter(of)
      .map(key => `${of(key)} ${monitors.words[key]}`).join(", ") : "no specification ran";
  const lines = [
    `${bytes(s.input.analysed)} analysed in ${time(s.seconds)}; ${page.count(s.results)} results, ` +
      `${page.count(s.violations)} violations`,
    `Specifications: ${words}`,
    `Trace: ${page.count(losses.gaps)} gaps, ${page.count(losses.overflows)} overflows, ` +
      `${page.count(losses.lost_bytes)} lost bytes, ${page.count(losses.bad_packets)} bad packets; ` +
      `${page.count(s.input.lost)} bytes dropped before they were analysed`];
  for (const h of s.hooks)
    lines.push(`${h.what}: told of ${page.count(h.done)} violations, failed ${page.count(h.failed)} times` +
        `${h.why ? ` (${h.why})` : ""}, ${page.count(h.dropped)} dropped`);
  const parts = [make("h2", {}, "The run has ended"),
    make("ul", {}, ...lines.map(text => make("li", {}, text)))];
  if (all.length) {
    const body = make("tbody", {});
    rows(body, all, m => "" + m.number, m => {
      const state = monitors.state(m);
      return [[m.name.split("/").pop(), "name"], () => make("span", { className: state.badge }, state.text),
        num(m.results), num(m.violations), num(m.uncertain)];
    });
    parts.push(make("div", { className: "scroll high" }, make("table", { className: "list verdicts" },
        make("thead", {}, make("tr", {}, ...["Specification", "", "Results", "Violations", "Uncertain"]
            .map((text, i) => make("th", { className: i > 1 ? "num" : "" }, text)))), body)));
  }
  if (s.files.length)
    parts.push(make("h3", {}, "Files"), make("ul", {}, ...s.files.map(path =>
        make("li", {}, make("a", { href: "file://" + encodeURI(path), className: "name" }, path)))),
        make("p", {}, "They are on the machine of the run; where a browser does not open such a link from " +
            "here, copy its address."));
  const save = make("button", { type: "button", className: "main" }, "Save what this page shows");
  save.addEventListener("click", saveReport);
  parts.push(make("div", { className: "actions" }, save));
  $("report").replaceChildren(...parts);
  $("report").hidden = false;
}

// ---- requests ----

// Posts a request. Returns the members of the answer, with `fine` and `status` added.
async function ask(what, body) {
  try {
    const answer = await fetch(where("api/" + what), { method: "POST",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return { ...await answer.json(), status: answer.status, fine: answer.ok };
  } catch (error) {
    return { fine: false, status: 0, error: "no answer: " + error.message };
  }
}

function say(said, fine, text) {
  said.className = "said " + (fine ? "good" : "bad");
  said.textContent = text;
}

async function post(what, body, said) {
  const answer = await ask(what, body);
  say(said, answer.fine, answer.fine ? answer.done : answer.error);
  return answer.fine;
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
onSubmit("filter-form", () => {
  const words = id => $(id).value.split(/[\s,]+/).filter(Boolean);
  post("filter", { ids: words("filter-ids"), contexts: words("filter-contexts"),
      levels: words("filter-levels").map(Number) }, $("filter-said"));
});

// Makes a button ask at the first click, and act at a second one within 4 s.
function twice(button, question, action) {
  const text = button.textContent;
  let timer = 0;
  button.addEventListener("click", () => {
    const sure = timer !== 0;
    clearTimeout(timer);
    timer = sure ? 0 : setTimeout(() => { timer = 0; button.textContent = text; }, 4000);
    button.textContent = sure ? text : question;
    if (sure) action();
  });
}

twice($("stop"), "Stop now?", () => post("stop", {}, $("monitor-said")));

const events = new EventSource(where("api/events"));
let heard = null;
events.onmessage = event => {
  heard = new Date();
  take(JSON.parse(event.data));
};
events.onerror = () => {
  if (known.state === "ended") {
    events.close();
  } else {
    $("state").className = "badge bad";
    setText($("state"), "not connected" + (heard ? `; last heard at ${heard.toLocaleTimeString()}` : ""));
  }
};
