// SPDX-License-Identifier: Apache-2.0
// The plots of the live page.

const H = 220, L = 58, R = 12, T = 10, B = 26;

// Draws lines over time. Each of `lines` is {name, color, values}. `top` is the upper end of the axis, and
// `label` returns the text of a value. A narrow chart has fewer units across, so that its texts are as large
// as those of a wide one.
function chart(svg, legend, times, lines, top, label, filled) {
  const W = svg.clientWidth > 0 && svg.clientWidth < 480 ? 340 : 640;
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
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
  svg.innerHTML = out; // only numbers, and names from this file
  legend.replaceChildren(...lines.map(l => {
    const mark = make("i", {});
    mark.style.background = `var(${l.color})`;
    return make("span", {}, mark, l.name + " ", make("b", {}, label(l.values.at(-1) ?? 0)));
  }));
}

// Returns the upper end of a scale: 1, 2 or 5 times a power of ten.
function ceiling(most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return unit * [1, 2, 5, 10].find(n => n * unit >= most);
}

// Returns a histogram with a bar for each [from, to, count]. The axis of cycles is logarithmic.
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
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Times of ${name}: ${page.count(of.count)} runs, ` +
      `${page.count(of.min)} to ${page.count(of.max)} cycles`);
  svg.innerHTML = out;
  const title = document.createElementNS("http://www.w3.org/2000/svg", "text");
  title.setAttribute("class", "title");
  title.setAttribute("x", 10);
  title.setAttribute("y", 18);
  title.textContent = name;
  svg.append(title);
  return make("figure", { className: "panel" }, svg);
}

// Formats a number for readers: "1,234", "12.3 k", "0.0123".
function number(v) {
  if (Number.isInteger(v) || Math.abs(v) >= 1e4) return page.short(v);
  return String(Number(v.toPrecision(4)));
}

// Returns a plot of this size. `draw` returns its content as markup, which has only numbers and texts that
// went through `escape`.
function plot(width, height, label, draw) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", "chart");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.innerHTML = draw();
  return svg;
}

const escape = text => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);

// Returns a function from a value to a position between `from` and `to`.
function scale(low, high, from, to, logarithmic) {
  const f = logarithmic ? Math.log : v => v;
  const a = f(low), b = f(high);
  return v => a === b ? (from + to) / 2 : from + (to - from) * (f(v) - a) / (b - a);
}

// Plots the values of an output over time: a band from the lowest to the highest value of each column, and
// the mean.
function valuesOverTime(of, unit, timeUnit) {
  const w = 420, h = 170, l = 56, r = 8, t = 8, b = 24, points = of.points;
  const begin = points[0][0], end = points.at(-1)[0] + of.width;
  const logarithmic = of.logarithmic && of.low > 0;
  const flat = of.low === of.high, room = flat ? Math.abs(of.low) / 10 || 1 : 0;
  const x = scale(begin, end, l, w - r, false);
  const y = scale(of.low - room, of.high + room, h - b, t, logarithmic);
  const middle = logarithmic ? Math.sqrt(of.low * of.high) : (of.low + of.high) / 2;
  return plot(w, h, "Values over time", () => {
    let out = "";
    for (const v of flat ? [of.low] : [of.low, middle, of.high])
      out += `<line class="tick" x1="${l}" x2="${w - r}" y1="${y(v)}" y2="${y(v)}"/><text x="${l - 6}" ` +
          `y="${Math.max(t + 9, y(v) + 4)}" text-anchor="end">${number(v)}</text>`;
    out += `<text x="${l}" y="${h - 6}">${page.short(begin)}</text><text x="${w - r}" y="${h - 6}" ` +
        `text-anchor="end">${page.short(end)} ${escape(timeUnit)}</text>`;
    const at = p => x(Math.min(p[0] + of.width / 2, end)).toFixed(1);
    const band = [...points.map(p => `${at(p)},${y(p[3]).toFixed(1)}`),
      ...points.map(p => `${at(p)},${y(p[1]).toFixed(1)}`).reverse()];
    out += `<polygon points="${band.join(" ")}" style="fill:var(--c0)" opacity=".22"/>` +
        `<polyline points="${points.map(p => `${at(p)},${y(p[2]).toFixed(1)}`).join(" ")}" fill="none" ` +
        `style="stroke:var(--c0)" stroke-width="1.6" stroke-linejoin="round"/>`;
    if (points.length === 1)
      out += `<circle cx="${at(points[0])}" cy="${y(points[0][2])}" r="3" style="fill:var(--c0)"/>`;
    for (const p of points)
      out += `<rect x="${x(p[0]).toFixed(1)}" y="${t}" ` +
          `width="${Math.max(1, x(p[0] + of.width) - x(p[0])).toFixed(1)}" height="${h - t - b}" ` +
          `fill="transparent" data-tip="from ${page.count(p[0])}: ${page.count(p[4])} values&#10;` +
          `${number(p[1])} to ${number(p[3])}, mean ${number(p[2])} ${escape(unit)}"/>`;
    return out;
  });
}

// Plots how often the values of an output came. The axis is logarithmic when the values are far apart.
function valuesBySize(of, unit) {
  const w = 420, h = 170, l = 8, r = 8, t = 8, b = 24, bars = of.histogram;
  const least = bars.find(bar => bar[0] > 0)?.[0] ?? 1;
  const low = of.logarithmic ? least / (bars[0][0] === 0 ? 2 : 1) : bars[0][0], high = bars.at(-1)[1];
  const x = scale(low, high, l, w - r, of.logarithmic);
  const most = Math.max(...bars.map(bar => bar[2]));
  return plot(w, h, "How often values came", () => {
    let out = `<line class="tick" x1="${l}" x2="${w - r}" y1="${h - b}" y2="${h - b}"/>`;
    for (const [from, to, count] of bars) {
      const a = x(Math.max(from, low)), z = x(Math.max(to, low));
      const tall = Math.max(1.5, (h - t - b) * count / most);
      out += `<rect class="plot" x="${a.toFixed(1)}" y="${(h - b - tall).toFixed(1)}" ` +
          `width="${Math.max(1.5, z - a - 1).toFixed(1)}" height="${tall.toFixed(1)}" ` +
          `data-tip="${number(from)} to ${number(to)} ${escape(unit)}: ${page.count(count)}"/>`;
    }
    out += `<text x="${l}" y="${h - 6}">${number(of.low)}</text><text x="${w / 2}" y="${h - 6}" ` +
        `text-anchor="middle">mean ${number(of.mean)}${of.logarithmic ? ", logarithmic" : ""}</text>` +
        `<text x="${w - r}" y="${h - 6}" text-anchor="end">${number(of.high)} ${escape(unit)}</text>`;
    return out;
  });
}
