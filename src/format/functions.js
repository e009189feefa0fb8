// SPDX-License-Identifier: Apache-2.0
// The functions of a report: a search over all of them, and a panel about the chosen one. The panel has links
// to its source and its bars in the charts, and its callers up to the outermost ones.
function showFunctions(data) {
  const MOST = 200; // most rows of a search
  const table = document.querySelector("#functions"), body = table.tBodies[0], rows = [...body.rows];
  const frame = table.closest(".panel");
  const charts = {time: null, timeline: null};
  for (const name in charts) charts[name] = document.querySelector(`#${name} .lanes`)?.chart;

  const make = (tag, more, ...inside) => {
    const made = document.createElement(tag);
    Object.assign(made, more);
    made.append(...inside);
    return made;
  };
  const place = f => data.files[f] ? `${data.files[f]}:${data.lines[f]}` : "";
  const button = f => make("button", {type: "button", className: "link", onclick: () => choose(f, true)},
    data.names[f]);
  const number = value => {
    const cell = make("td", {className: "num"}, page.count(value));
    cell.dataset.v = value;
    return cell;
  };

  // ---- the chosen core and thread ----

  let took = data, who = {core: "", thread: ""};

  // Returns the sums of all functions over the chosen threads.
  function addUp() {
    const sum = {all: 0};
    for (const key of ["alone", "inclusive", "calls"]) sum[key] = new Array(data.names.length).fill(0);
    for (const thread of data.threads.filter(one => isOf(one, who))) {
      const flat = thread.functions;
      sum.all += thread.all;
      for (let i = 0; i < flat.length; i += 4) {
        sum.alone[flat[i]] += flat[i + 1];
        sum.inclusive[flat[i]] += flat[i + 2];
        sum.calls[flat[i]] += flat[i + 3];
      }
    }
    return sum;
  }

  // ---- the tables ----

  // Returns the first cells of a row: a part of the whole, as a percentage, a bar and a number.
  function share(value) {
    const part = make("td", {className: "num"}, page.percent(value, took.all)), bar = make("i");
    part.dataset.v = value;
    bar.style.width = took.all ? 100 * value / took.all + "%" : 0;
    return [part, make("td", {}, make("span", {className: "bar"}, bar)), number(value)];
  }

  function row(f) {
    const name = make("td", {className: "wide name first"}, button(f), " ",
      make("span", {className: "soft"}, place(f) || data.modules[f]));
    return make("tr", {}, ...share(took.alone[f]), number(took.inclusive[f]), number(took.calls[f]), name);
  }

  // Replaces the rows of a table. Removes the mark of the column that the old rows were sorted by.
  function fill(into, made) {
    into.tBodies[0].replaceChildren(...made);
    for (const head of into.tHead.rows[0].cells) head.removeAttribute("aria-sort");
  }

  // Shows the functions whose name, module or file contains all words. Those with most time come first.
  function find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(word => word), found = [];
    if (!words.length && took === data) {
      body.replaceChildren(...rows);
      told.textContent = "";
      return;
    }
    data.names.forEach((name, f) => {
      const all = (name + " " + data.modules[f] + " " + data.files[f]).toLowerCase();
      const ran = took === data || took.inclusive[f] || took.calls[f];
      if (ran && words.every(word => all.includes(word))) found.push(f);
    });
    if (took !== data) found.sort((a, b) => took.alone[b] - took.alone[a] || a - b);
    fill(table, found.slice(0, MOST).map(row));
    told.textContent = `${page.count(found.length)} of ${page.count(data.names.length)} functions` +
      (found.length > MOST ? `; the ${MOST} with most time are shown` : "");
  }

  // Shows the sums of the modules over the chosen threads.
  function showModules() {
    const sums = new Map();
    if (!modules) return;
    if (took === data) return modules.tBodies[0].replaceChildren(...moduleRows);
    data.modules.forEach((name, f) => {
      if (!took.inclusive[f] && !took.calls[f]) return;
      const sum = sums.get(name) || {alone: 0, functions: 0};
      sums.set(name, {alone: sum.alone + took.alone[f], functions: sum.functions + 1});
    });
    fill(modules, [...sums].sort((a, b) => b[1].alone - a[1].alone).map(([name, sum]) =>
      make("tr", {}, ...share(sum.alone), number(sum.functions),
        make("td", {className: "wide name first"}, name || "[unknown]"))));
  }

  function choosePart(chosen) {
    who = chosen;
    took = who.core || who.thread ? addUp() : data;
    lists.set(who);
    find(input.value);
    showModules();
    if (!about.hidden) choose(shown, false);
  }

  // ---- callers ----

  // Returns for each bar of the stacks the index of the bar of its caller, or -1.
  function parents(bars) {
    const last = [];
    return bars.map((bar, i) => {
      const depth = last.length = (bar.y - bars[0].y) / charts.time.row;
      last[depth] = i;
      return depth ? last[depth - 1] : -1;
    });
  }

  // Returns a tree of the callers of a function, their callers, and so on, with the sums of its bars. Of a
  // recursion, only the outermost bar counts.
  function callers(f) {
    const {bars, data: chart} = charts.time, mine = chart.functions.indexOf(f), above = parents(bars);
    const root = {weight: 0, callers: new Map()};
    bars.forEach((bar, i) => {
      if (bar.name !== mine) return;
      const path = [];
      for (let at = above[i]; at >= 0; at = above[at]) path.push(bars[at].name);
      if (path.includes(mine)) return;
      let node = root;
      node.weight += bar.to - bar.from;
      for (const name of path) {
        if (!node.callers.has(name)) node.callers.set(name, {weight: 0, callers: new Map()});
        node = node.callers.get(name);
        node.weight += bar.to - bar.from;
      }
    });
    return root;
  }

  // Returns a list of the callers of a node. Makes the list of each caller when it is opened.
  function tree(node, whole) {
    const list = make("ul", {className: "tree"});
    for (const [name, caller] of [...node.callers].sort((a, b) => b[1].weight - a[1].weight)) {
      const text = [make("b", {}, page.percent(caller.weight, whole)),
        make("code", {}, charts.time.data.names[name])];
      if (!caller.callers.size) {
        list.append(make("li", {className: "leaf"}, ...text));
        continue;
      }
      const more = make("details", {}, make("summary", {}, ...text));
      more.addEventListener("toggle", () => more.append(tree(caller, whole)), {once: true});
      list.append(make("li", {}, more));
    }
    return list;
  }

  function calledBy(f) {
    const root = charts.time ? callers(f) : {weight: 0, callers: new Map()};
    const missing = took.inclusive[f] - root.weight;
    const list = [make("h4", {}, "Called by")];
    if (root.callers.size) list.push(tree(root, took.inclusive[f]));
    else if (root.weight) list.push(make("p", {}, "Nobody that the trace shows: it is outermost."));
    if (missing > 0)
      list.push(make("p", {className: "more"}, `${page.count(missing)} ${data.unit} of its time are in ` +
        "stacks that are too small for the chart."));
    return list;
  }

  // ---- one function ----

  function source(f) {
    const line = data.anchors[f] && document.getElementById(data.anchors[f]);
    if (!line) return place(f) ? make("span", {className: "soft"}, place(f)) : "";
    const link = make("a", {href: "#" + line.id}, place(f) || "source");
    link.addEventListener("click", () => { line.closest("details.file").open = true; });
    return link;
  }

  function inChart(name, text, f) {
    const way = make("button", {type: "button"}, text);
    way.addEventListener("click", () => {
      const bar = charts[name].choose(f);
      document.querySelector(`#${name} .lanes`).scrollIntoView({block: "center"});
      bar?.scrollIntoView({block: "nearest"}); // the chart may be higher than the window
    });
    way.disabled = !charts[name].data.functions || !charts[name].has(f);
    return way;
  }

  function choose(f, scroll) {
    shown = f;
    const tools = make("div", {className: "tools"});
    if (charts.time) tools.append(inChart("time", "In the stacks", f));
    if (charts.timeline) tools.append(inChart("timeline", "In the timeline", f));
    about.replaceChildren(make("h3", {}, data.names[f]),
      make("p", {}, data.modules[f], data.modules[f] && place(f) ? ", " : "", source(f)),
      make("p", {}, `${page.count(took.alone[f])} ${data.unit} alone ` +
        `(${page.percent(took.alone[f], took.all)}), ${page.count(took.inclusive[f])} with callees ` +
        `(${page.percent(took.inclusive[f], took.all)}), ${page.count(took.calls[f])} calls` +
        [who.core, who.thread].filter(part => part).map((part, i) => (i ? ", " : ", of ") + part).join("")),
      tools, ...calledBy(f));
    about.hidden = false;
    if (scroll) about.scrollIntoView({block: "nearest"});
  }

  const told = make("span", {}), input = make("input", {type: "search", placeholder: "Find a function",
    oninput: () => find(input.value)});
  const about = make("div", {className: "panel", id: "function", hidden: true});
  const modules = document.querySelector("#modules");
  const moduleRows = modules ? [...modules.tBodies[0].rows] : [];
  const lists = whoLists(data.threads || [], chosen => charts.time.select(chosen));
  let shown = -1; // the function in the panel
  input.setAttribute("aria-label", "Find a function by parts of its name, module or file");
  told.setAttribute("role", "status");
  rows.forEach((line, f) => line.cells[line.cells.length - 1].firstChild.replaceWith(button(f), " "));
  frame.before(make("div", {className: "tools find"}, input, ...lists.lists, told));
  frame.after(about);
  document.addEventListener("who", event => choosePart(event.detail));
  document.addEventListener("function", event => choose(event.detail, false));
}
const functionData = document.getElementById("function-data");
if (functionData && document.querySelector("#functions")) showFunctions(JSON.parse(functionData.textContent));
