// SPDX-License-Identifier: Apache-2.0
// Runs in a page of coretap, behind its own scripts: what a reader would see and do. The answers stand in
// #probe.
const probe = {back: getComputedStyle(document.body).backgroundColor, low: [], seen: 0};

// "rgb(1, 2, 3)" and "rgba(1, 2, 3, 0.5)" -> [1, 2, 3, 0.5]
const parts = text => {
  const found = text.match(/[\d.]+/g).map(Number);
  return found.length === 3 ? [...found, 1] : found;
};
const over = (front, back) =>
    back.map((value, i) => front[i] * front[3] + value * (1 - front[3])).slice(0, 3).concat(1);
const light = colour => {
  const [r, g, b] = colour.map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);

function backOf(element) {
  if (!element) return [255, 255, 255, 1];
  const colour = parts(getComputedStyle(element).backgroundColor);
  return colour[3] === 1 ? colour : over(colour, backOf(element.parentElement));
}
const named = element =>
    `${element.tagName}.${element.getAttribute("class")} "${element.textContent.slice(0, 20)}"`;
function opacityOf(element) {
  return element ? Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement) : 1;
}
function check(element, colour, back) {
  probe.seen++;
  colour[3] *= opacityOf(element);
  const ratio = contrast(over(colour, back), back);
  if (ratio < 4.5 && probe.low.length < 10)
    probe.low.push(`${named(element)} ${ratio.toFixed(2)}`);
}
const hasText = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());

for (const details of document.querySelectorAll("details")) details.open = true;
for (const element of document.querySelectorAll("body *:not(script):not(style):not(noscript)")) {
  if (!hasText(element)) continue;
  if (element instanceof SVGElement) {
    const below = element.classList.contains("on") && element.previousElementSibling;
    check(element, parts(getComputedStyle(element).fill),
        below ? parts(getComputedStyle(below).fill) : backOf(element.closest("div, figure")));
  } else {
    check(element, parts(getComputedStyle(element).color), backOf(element));
    if (element.classList.contains("heat")) {
      const heat = document.createElement("i");
      heat.style.color = "var(--heat)";
      element.append(heat);
      check(element, parts(getComputedStyle(element).color), parts(getComputedStyle(heat).color));
      heat.remove();
    }
  }
}

probe.bars = [...document.querySelectorAll(".lanes")].map(box => box.querySelectorAll("rect").length);
const sticksOut = element =>
    element.getBoundingClientRect().right > document.documentElement.clientWidth + 1 &&
  !element.closest(".scroll, .nav, .surface");
probe.wide = [...document.querySelectorAll("body *")].filter(sticksOut).slice(0, 10)
  .map(named);
if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
  probe.wide.push("the page scrolls");
probe.title = document.title;

const table = document.querySelector("#functions");
if (table) {
  const buttons = [...table.querySelectorAll("th button")];
  const column = text => buttons.find(button => button.textContent.startsWith(text)).closest("th").cellIndex;
  const values = at => [...table.tBodies[0].rows]
      .map(row => row.cells[at].dataset.v ?? row.cells[at].textContent);
  buttons.find(button => button.textContent === "Calls").click();
  probe.down = values(column("Calls")).map(Number);
  buttons.find(button => button.textContent === "Calls").click();
  probe.up = values(column("Calls")).map(Number);
}

const boxes = document.querySelectorAll(".lanes");
if (boxes.length) {
  const box = boxes[boxes.length - 1], where = () => box.querySelector(".where").textContent;
  const send = (target, type, more) =>
      target.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0, ...more}));
  const first = () => box.querySelector("rect[data-bar]");
  probe.all = where();
  const second = box.querySelectorAll("rect[data-bar]")[1];
  const at = second.getBoundingClientRect();
  send(second, "mousemove", {clientX: at.left, clientY: at.top});
  probe.tip = document.querySelector(".tip").textContent;
  send(second, "pointerdown", {clientX: at.left});
  send(second, "pointerup", {clientX: at.left});
  probe.zoomed = where();
  box.dispatchEvent(new KeyboardEvent("keydown", {key: "-", bubbles: true}));
  probe.farther = where();
  box.dispatchEvent(new KeyboardEvent("keydown", {key: "0", bubbles: true}));
  probe.again = where();
  box.dispatchEvent(new KeyboardEvent("keydown", {key: "+", bubbles: true}));
  probe.closer = where();
  send(first(), "pointerdown", {clientX: 400});
  send(first(), "pointermove", {clientX: 300});
  send(first(), "pointerup", {clientX: 300});
  probe.dragged = where();
}
const answer = document.createElement("pre");
answer.id = "probe";
answer.textContent = JSON.stringify(probe);
document.body.append(answer);
