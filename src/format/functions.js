// SPDX-License-Identifier: Apache-2.0
// The functions of a report: a search over all of them, and what is known of the one that is chosen: its
// source, its bars in the charts, and who called it, from the function up to the outermost callers.
function showFunctions(data) {
  const MOST = 200; // rows of a search
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

  // ---- the table ----

  function row(f) {
    const part = make("td", {className: "num"}, page.percent(data.alone[f], data.all));
    const bar = make("i");
    const name = make("td", {className: "wide name first"}, button(f), " ",
      make("span", {className: "soft"}, place(f) || data.modules[f]));
    part.dataset.v = data.alone[f];
    bar.style.width = 100 * data.alone[f] / data.all + "%";
    return make("tr", {}, part, make("td", {}, make("span", {className: "bar"}, bar)), number(data.alone[f]),
      number(data.inclusive[f]), number(data.calls[f]), name);
  }

  // Shows the functions whose names or modules have all words, those with most time first.
  function find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(word => word);
    if (!words.length) {
      body.replaceChildren(...rows);
      told.textContent = "";
      return;
    }
    const found = [];
    data.names.forEach((name, f) => {
      const all = (name + " " + data.modules[f] + " " + data.files[f]).toLowerCase();
      if (words.every(word => all.includes(word))) found.push(f);
    });
    body.replaceChildren(...found.slice(0, MOST).map(row));
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    told.textContent = `${page.count(found.length)} of ${page.count(data.names.length)} functions` +
      (found.length > MOST ? `; the ${MOST} with most time are shown` : "");
  }

  // ---- callers ----

  // Gives for each bar of the stacks the one above it, or -1.
  function parents(bars) {
    const last = [];
    return bars.map((bar, i) => {
      const depth = last.length = (bar.y - bars[0].y) / charts.time.row;
      last[depth] = i;
      return depth ? last[depth - 1] : -1;
    });
  }

  // Adds up the bars of a function by their callers, by the callers of these, and so on. Of a recursion only
  // the outermost bar counts.
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

  // A list of the callers of a node; those of each are made when it is opened.
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
    const missing = data.inclusive[f] - root.weight;
    const list = [make("h4", {}, "Called by")];
    if (root.callers.size) list.push(tree(root, data.inclusive[f]));
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
    const shown = make("button", {type: "button"}, text);
    shown.addEventListener("click", () => {
      charts[name].choose(f);
      document.querySelector(`#${name} .lanes`).scrollIntoView({block: "center"});
    });
    shown.disabled = !charts[name].data.functions || !charts[name].has(f);
    return shown;
  }

  function choose(f, scroll) {
    const tools = make("div", {className: "tools"});
    if (charts.time) tools.append(inChart("time", "In the stacks", f));
    if (charts.timeline) tools.append(inChart("timeline", "In the timeline", f));
    about.replaceChildren(make("h3", {}, data.names[f]),
      make("p", {}, data.modules[f], data.modules[f] && place(f) ? ", " : "", source(f)),
      make("p", {}, `${page.count(data.alone[f])} ${data.unit} alone ` +
        `(${page.percent(data.alone[f], data.all)}), ${page.count(data.inclusive[f])} with callees ` +
        `(${page.percent(data.inclusive[f], data.all)}), ${page.count(data.calls[f])} calls`),
      tools, ...calledBy(f));
    about.hidden = false;
    if (scroll) about.scrollIntoView({block: "nearest"});
  }

  const told = make("span", {}), input = make("input", {type: "search", placeholder: "Find a function",
    oninput: () => find(input.value)});
  const about = make("div", {className: "panel", id: "function", hidden: true});
  input.setAttribute("aria-label", "Find a function by parts of its name, module or file");
  told.setAttribute("role", "status");
  rows.forEach((line, f) => line.cells[line.cells.length - 1].firstChild.replaceWith(button(f), " "));
  frame.before(make("div", {className: "tools find"}, input, told));
  frame.after(about);
  document.addEventListener("function", event => choose(event.detail, false));
}
const functionData = document.getElementById("function-data");
if (functionData && document.querySelector("#functions")) showFunctions(JSON.parse(functionData.textContent));
