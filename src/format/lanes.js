// SPDX-License-Identifier: Apache-2.0
// Draws the charts that lanes.c puts into a page: bars above each other along an axis, as SVG.
// Click: the bar fills the chart. Drag: moves along the axis. Ctrl and wheel, + and -: zoom. 0: shows all.

// Makes lists to choose a core and a thread from, unless all lanes have the same one. Calls `act` with the
// choice.
function whoLists(lanes, act) {
  const who = {core: "", thread: ""}, lists = {};
  for (const [key, every] of [["core", "All cores"], ["thread", "All threads"]]) {
    const values = [...new Set(lanes.map(lane => lane[key]).filter(value => value))];
    if (values.length < 2) continue;
    const list = lists[key] = document.createElement("select");
    list.append(new Option(every, ""), ...values.map(value => new Option(value, value)));
    list.setAttribute("aria-label", key === "core" ? "Core" : "Thread");
    list.addEventListener("change", () => {
      who[key] = list.value;
      act(who);
    });
  }
  return {
    lists: Object.values(lists),
    set(other) {
      Object.assign(who, other);
      for (const key in lists) lists[key].value = who[key];
    },
  };
}

// Returns whether a lane belongs to the chosen core and thread.
const isOf = (lane, who) => Object.keys(who).every(key => !who[key] || who[key] === lane[key]);

// Merges lanes of stacks into one, in which equal stacks are one bar.
function addLanes(lanes) {
  const root = {weight: 0, below: new Map()}, bars = [];
  for (const lane of lanes) {
    const flat = lane.bars, path = [root];
    root.weight += lane.weight;
    for (let i = 0; i < flat.length; i += 4) {
      const above = path[flat[i + 1]];
      if (!above.below.has(flat[i])) above.below.set(flat[i], {weight: 0, below: new Map()});
      const node = path[flat[i + 1] + 1] = above.below.get(flat[i]);
      node.weight += flat[i + 3] - flat[i + 2];
    }
  }
  const put = (node, depth, at) => {
    for (const [name, below] of [...node.below].sort((a, b) => a[0] - b[0])) {
      bars.push(name, depth, at, at + below.weight);
      put(below, depth + 1, at);
      at += below.weight;
    }
  };
  put(root, 0, 0);
  return {bars, weight: root.weight};
}

function drawLanes(box, data) {
  const ROW = 19, AXIS = 26, TITLE = 22, GAP = 8, LETTER = 6.7, LEAST = 1e-9;
  const NS = "http://www.w3.org/2000/svg";
  const all = [];
  let low = Infinity, high = -Infinity, height = AXIS;
  const isWeight = data.kind === "weight";
  let shown = [];

  // Places the bars of the shown lanes below each other. A chart of weights has one lane, the sum of all that
  // is chosen.
  function place(who) {
    all.length = 0;
    height = AXIS;
    shown = isWeight ? [who.core || who.thread
      ? addLanes(data.lanes.slice(1).filter(lane => isOf(lane, who))) : data.lanes[0]]
      : data.lanes.filter(lane => isOf(lane, who));
    for (const lane of shown) {
      const flat = lane.bars;
      let depth = 0;
      lane.top = height + (lane.title ? TITLE : 0);
      for (let i = 0; i < flat.length; i += 4) {
        depth = Math.max(depth, flat[i + 1] + 1);
        all.push({name: flat[i], y: lane.top + flat[i + 1] * ROW, from: flat[i + 2], to: flat[i + 3]});
      }
      height = lane.top + depth * ROW + GAP;
    }
  }
  place({});
  for (const bar of all) {
    low = Math.min(low, bar.from);
    high = Math.max(high, bar.to);
  }
  if (!all.length) return;
  if (isWeight) { // parts that are too narrow for a bar may be first and last
    low = 0;
    high = shown[0].weight;
  }
  let from = low, to = high, drag = null, chosen = -1, drawn = 0;

  const tools = document.createElement("div"), where = document.createElement("span");
  const svg = document.createElementNS(NS, "svg"), plot = document.createElement("div");
  tools.className = "tools";
  plot.className = "surface";
  where.className = "where";
  svg.setAttribute("aria-hidden", "true");
  plot.append(svg);
  for (const [text, label, act] of [["+", "Closer", () => zoom(0.5)], ["\u2212", "Farther", () => zoom(2)],
    ["All", "Show all", showAll]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    tools.append(button);
  }
  const lists = whoLists(data.lanes, select);
  tools.append(where, ...lists.lists);
  box.append(tools, plot);

  const element = (name, attributes, text) => {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const width = () => plot.clientWidth || 800;
  const x = at => (at - from) / (to - from) * width();

  function show(a, b) {
    const span = Math.min(Math.max(b - a, Math.min(8, high - low)), high - low);
    a = Math.min(Math.max(a, low), high - span);
    from = a;
    to = a + Math.max(span, LEAST);
    draw();
  }
  // Shows all bars, none of them marked.
  function showAll() {
    chosen = -1;
    show(low, high);
  }
  function zoom(factor, at = (from + to) / 2) {
    show(at - (at - from) * factor, at + (to - at) * factor);
  }

  // Shows the lanes of a core and a thread. Tells other parts of the page through the event "who".
  function select(who) {
    lists.set(who);
    place(who);
    if (!isWeight) return draw();
    high = shown[0].weight;
    showAll();
    box.dispatchEvent(new CustomEvent("who", {bubbles: true, detail: {...who}}));
  }

  function axis(into) {
    const wanted = (to - from) / Math.max(2, width() / 120);
    let step = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
    step *= [1, 2, 5, 10].find(n => n * step >= wanted) || 10;
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      into.append(element("line", {class: "tick", x1: x(at), x2: x(at), y1: AXIS - 6, y2: height}));
      const label = page.count(at), end = x(at) + label.length * LETTER / 2 > width();
      into.append(element("text", {x: end ? width() : x(at), y: 13,
        "text-anchor": end ? "end" : x(at) < label.length * LETTER / 2 ? "start" : "middle"}, label));
    }
  }

  // Draws the axis and the bars. Neighbouring bars narrower than a pixel are drawn as one.
  function draw() {
    const into = document.createDocumentFragment(), last = new Map();
    drawn = width();
    svg.setAttribute("width", drawn);
    svg.setAttribute("height", height);
    axis(into);
    for (const lane of shown)
      if (lane.title) into.append(element("text", {class: "title", x: 0, y: lane.top - 7}, lane.title));
    all.forEach((bar, index) => {
      if (bar.to < from || bar.from > to) return;
      const left = Math.max(x(bar.from), -1), right = Math.min(x(bar.to), width() + 1);
      if (right - left < 1 && last.get(bar.y) >= left - 0.5) return;
      last.set(bar.y, Math.max(right, left + 0.7));
      const other = chosen < 0 ? "" : bar.name === chosen ? " chosen" : " other";
      const attributes = {class: "k" + data.colours[bar.name] + other, x: left.toFixed(2), y: bar.y,
        width: Math.max(right - left - 0.6, 0.7).toFixed(2), height: ROW - 1.5, rx: right - left > 6 ? 2 : 0};
      const rect = element("rect", attributes);
      rect.dataset.bar = index;
      into.append(rect);
      const room = Math.floor((right - Math.max(left, 0) - 8) / LETTER), name = data.names[bar.name];
      if (room >= 3)
        into.append(element("text", {class: "on", x: Math.max(left, 0) + 4, y: bar.y + 13},
          name.length > room ? name.slice(0, room - 1) + "\u2026" : name));
    });
    svg.replaceChildren(into);
    where.textContent = data.kind === "time" || to - from < high - low
      ? `${page.count(from)} to ${page.count(to)} of ${page.count(high)} ${data.unit}`
      : `${page.count(high - low)} ${data.unit}`;
  }

  function tell(event) {
    const bar = all[event.target.dataset?.bar];
    if (!bar) return page.tip(null);
    const length = bar.to - bar.from, part = page.percent(length, high - low);
    page.tip(data.names[bar.name] + "\n" + page.count(length) + " " + data.unit +
      (data.kind === "time" ? `, from ${page.count(bar.from)}` : `, ${part} of all`),
      event.clientX, event.clientY);
  }

  plot.addEventListener("pointerdown", event => {
    if (event.button === 0) drag = {at: event.clientX, from, to, moved: false};
  });
  addEventListener("pointermove", event => {
    if (!drag) return;
    const by = (drag.at - event.clientX) / width() * (drag.to - drag.from);
    drag.moved ||= Math.abs(drag.at - event.clientX) > 4;
    if (drag.moved) show(drag.from + by, drag.to + by);
  });
  addEventListener("pointerup", event => {
    const bar = drag && !drag.moved && all[event.target.dataset?.bar];
    drag = null;
    if (!bar) return;
    show(bar.from, bar.to);
    if (data.functions)
      box.dispatchEvent(new CustomEvent("function", {bubbles: true, detail: data.functions[bar.name]}));
  });
  plot.addEventListener("mousemove", tell);
  plot.addEventListener("mouseleave", () => page.tip(null));
  plot.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = from + (event.clientX - plot.getBoundingClientRect().left) / width() * (to - from);
    zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
  }, {passive: false});
  box.addEventListener("keydown", event => {
    const step = (to - from) / 8;
    const act = {"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": showAll,
      ArrowLeft: () => show(from - step, to - step),
      ArrowRight: () => show(from + step, to + step)}[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  new ResizeObserver(() => { if (width() !== drawn) draw(); }).observe(plot);
  draw();

  // The interface of the chart for other scripts.
  box.chart = {
    bars: all,
    row: ROW,
    data,
    select,
    has: number => all.some(bar => data.functions[bar.name] === number),

    // Marks the bars of a function, by its number in the report (-1: no function), and shows the longest one.
    // Returns its element, or null when the chart has no bar of the function.
    choose(number) {
      chosen = data.functions ? data.functions.indexOf(number) : -1;
      const mine = all.filter(bar => bar.name === chosen);
      const longest = mine.reduce((a, b) => b.to - b.from > a.to - a.from ? b : a, mine[0]);
      if (!longest) draw();
      else show(longest.from - (longest.to - longest.from) / 4, longest.to + (longest.to - longest.from) / 4);
      return svg.querySelector(`[data-bar="${all.indexOf(longest)}"]`);
    },
  };
}
for (const box of document.querySelectorAll(".lanes"))
  if (box.querySelector("script")) drawLanes(box, JSON.parse(box.querySelector("script").textContent));
