// SPDX-License-Identifier: Apache-2.0
// The editor of the live page: one specification at a time, with its bindings. While the user types, the run
// checks the text, and its messages appear under the lines.
const HINT = 'define calls := function_call "main"\ndefine n := eventCount(calls)\nout n';

const editor = {
  node: null, // the open editor's element, or null
  timer: 0,

  // Opens the editor at the end of `under`, for a specification with its details, or for a new one (null).
  open(under, details) {
    editor.close();
    const name = make("input", { className: "grow", placeholder: "name", value: details?.name ?? "",
      disabled: details !== null, ariaLabel: "Name of the specification" });
    const text = make("div", { className: "edit", spellcheck: false, role: "textbox", ariaMultiLine: "true",
      ariaLabel: "Specification in TeSSLa", autocapitalize: "off" });
    text.dataset.hint = HINT;
    text.contentEditable = "plaintext-only";
    if (text.contentEditable !== "plaintext-only") text.contentEditable = "true";
    text.textContent = details?.text ?? "";
    const run = make("button", { type: "button", className: "main run-it" }, details ? "Exchange" : "Run");
    const cancel = make("button", { type: "button" }, "Cancel");
    const said = make("p", { className: "said", role: "status" });
    const binds = make("div", { className: "binds" });
    const form = make("div", { className: "editor" }, details ? "" : name, text, binds,
        make("div", { className: "actions" }, run, cancel), said);
    Object.assign(editor, { node: form, name, text, binds, said, run, fresh: details === null,
      bound: { ...details?.bind } });
    text.addEventListener("input", () => editor.later());
    text.addEventListener("paste", event => {
      event.preventDefault();
      editor.insert(event.clipboardData.getData("text/plain"));
    });
    run.addEventListener("click", () => editor.send());
    cancel.addEventListener("click", () => editor.close());
    under.append(form);
    editor.check();
    (details ? text : name).focus({ preventScroll: true });
    form.scrollIntoView({ block: "nearest" });
  },

  close() {
    clearTimeout(editor.timer);
    editor.node?.remove();
    editor.node = null;
  },

  // Returns the text as typed, without the messages under the lines.
  source() {
    const copy = editor.text.cloneNode(true);
    for (const line of copy.querySelectorAll("br")) line.replaceWith("\n");
    for (const line of copy.querySelectorAll("div")) line.before("\n"); // without "plaintext-only"
    return copy.textContent;
  },

  // Replaces the selection with a text.
  insert(text) {
    const selection = getSelection(), node = document.createTextNode(text.replace(/\r\n?/g, "\n"));
    selection.deleteFromDocument();
    selection.getRangeAt(0).insertNode(node);
    selection.collapse(node, node.length);
    editor.later();
  },

  later() {
    clearTimeout(editor.timer);
    editor.timer = setTimeout(() => editor.check(), 400);
  },

  // Lets the run compile the text, and shows its messages.
  async check() {
    const node = editor.node, text = editor.source();
    if (!text.trim()) {
      editor.mark([]);
      editor.drawBinds([]);
      return;
    }
    const answer = await ask("check", { text, name: editor.name.value || "specification" });
    if (editor.node !== node || editor.source() !== text) return; // the text changed meanwhile
    if (answer.status === 503) {
      editor.later();
      return;
    }
    editor.show(answer);
  },

  show(answer) {
    const faults = answer.diagnostics ?? [], wrong = faults.filter(d => !d.warning).length;
    if (answer.diagnostics) editor.mark(faults); // otherwise the text was not checked
    if (answer.inputs) editor.drawBinds(answer.inputs);
    if (wrong) say(editor.said, false, `${wrong} ${wrong === 1 ? "error" : "errors"}: line ` +
        faults.filter(d => !d.warning).map(d => `${d.line}, ${d.text}`).join("; line "));
    else say(editor.said, answer.fine, answer.fine ? "" : answer.error);
  },

  // ---- messages under the lines ----

  // Returns the position of the caret in the text, or null.
  caret() {
    const selection = getSelection();
    if (!selection.rangeCount || !editor.text.contains(selection.focusNode)) return null;
    const range = document.createRange();
    range.setStart(editor.text, 0);
    range.setEnd(selection.focusNode, selection.focusOffset);
    return range.toString().length;
  },

  setCaret(at) {
    const walker = document.createTreeWalker(editor.text, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (at <= node.length) {
        getSelection().collapse(node, at);
        return;
      }
      at -= node.length;
    }
  },

  // Puts messages under the lines. Each line is followed by its end and an empty element, whose style shows
  // the message.
  mark(faults) {
    const before = editor.text.querySelectorAll(".fault");
    if (!faults.length && !before.length) return;
    const text = editor.source(), caret = editor.caret(), lines = text.split("\n");
    const byLine = Map.groupBy ? Map.groupBy(faults, d => d.line) : new Map();
    if (!Map.groupBy)
      for (const d of faults) byLine.set(d.line, [...byLine.get(d.line) ?? [], d]);
    const parts = [];
    lines.forEach((line, i) => {
      const last = i === lines.length - 1;
      parts.push(last ? line : line + "\n");
      for (const d of byLine.get(i + 1) ?? []) {
        const mark = make("span", { className: "fault" + (d.warning ? " warning" : "") });
        const long = d.end_line === d.line ? Math.max(1, d.end_column - d.column) : 1;
        mark.dataset.say = " ".repeat(d.column - 1) + "^".repeat(long) + "\n" + d.text;
        mark.dataset.line = d.line;
        parts.push(mark);
      }
    });
    editor.text.replaceChildren(...parts);
    editor.text.normalize();
    if (caret !== null) editor.setCaret(caret);
  },

  // ---- bindings ----

  // Makes a field for each input that no source feeds, or that is bound to another place. The field offers
  // places to choose from.
  drawBinds(inputs) {
    const open = inputs.filter(input => !input.fixed || editor.bound[input.name] !== undefined);
    const key = JSON.stringify(open);
    if (editor.binds.dataset.key === key) return;
    editor.binds.dataset.key = key;
    editor.binds.replaceChildren(...open.flatMap((input, i) => {
      const field = make("input", { id: "bind-" + i, value: editor.bound[input.name] ?? "",
        placeholder: input.place ?? "entry:FUNCTION, FILE:LINE, exception", autocapitalize: "off",
        spellcheck: false });
      field.setAttribute("list", "choices");
      field.dataset.input = input.name;
      field.addEventListener("input", () => {
        editor.bound[input.name] = field.value;
        editor.suggest(field);
      });
      field.addEventListener("focus", () => editor.suggest(field));
      const label = make("label", { htmlFor: field.id }, input.name, make("small", {}, input.type));
      return [label, field];
    }));
  },

  // Fills the list of places whose names contain the typed text.
  async suggest(field) {
    const typed = field.value.trim(), kind = /^(entry|return|function|load|store):/.exec(typed)?.[0] ?? "";
    const path = where("api/places"), sign = path.includes("?") ? "&" : "?";
    try {
      const answer = await fetch(`${path}${sign}text=${encodeURIComponent(typed.slice(kind.length))}`);
      const places = await answer.json();
      if (field.value.trim() !== typed) return;
      const of = (names, ...kinds) => names.flatMap(name => kinds.includes(kind) ? [kind + name]
          : kind ? [] : kinds.slice(0, 2).map(one => one + name));
      const functions = [...of(places.functions, "entry:", "return:", "function:"),
          ...of(places.variables, "store:", "load:")];
      const others = kind ? [] : [...places.lines, ...places.values, ...places.others];
      $("choices").replaceChildren(...[...functions, ...others]
          .map(value => make("option", { value })));
    } catch {
      $("choices").replaceChildren(); // a place can be typed without the list
    }
  },

  // ---- sending ----

  async send() {
    const bind = {};
    for (const field of editor.binds.querySelectorAll("input"))
      if (field.value.trim()) bind[field.dataset.input] = field.value.trim();
    const node = editor.node, action = editor.fresh ? "add" : "replace";
    editor.run.disabled = true;
    const answer = await ask("monitors", { action, name: editor.name.value.trim(), text: editor.source(),
      bind });
    if (editor.node !== node) return;
    editor.run.disabled = false;
    if (!answer.fine) {
      editor.show(answer);
      return;
    }
    editor.close();
    say($("monitor-said"), true, answer.done);
  },
};
