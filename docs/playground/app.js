// The playground: what is typed goes to the translator, its answer to the page. Text is only ever set as text.

import { mark, resultView, show, showResult, sourceEditor, underline } from "./editors.js";
import { EXAMPLES } from "./examples.js";
import { RENDERED } from "./rendered.js"; // tools/playground.py writes it, by engine.py
import { fromLink, toLink } from "./link.js";
import { Translator } from "./translator.js";

const $ = (id) => document.getElementById(id);
const PAUSE = 60; // milliseconds between the last key and the translation

let tab = "python";
let lines = {}; // line of the Python -> line of the text
let size = 0; // bytes to load, which the builder wrote down
let pause = 0;
let opened = 0; // counts the programs; what is said of an earlier one is not shown

// Lines.

function fromSource(line) {
  const there = Object.keys(lines).filter((row) => lines[row] === line).map(Number);
  mark(source, [line]);
  mark(result, there, { scroll: there.length > 0 });
}

function fromResult(row) {
  const line = lines[row];
  mark(result, [row]);
  mark(source, line ? [line] : [], { scroll: Boolean(line) });
}

const source = sourceEditor($("source"), { changed: () => later(), line: fromSource });
const result = resultView($("result"), { line: fromResult });

// Defines.

function field(label, value, width) {
  const input = document.createElement("input");
  Object.assign(input, { value, spellcheck: false, autocomplete: "off", autocapitalize: "off", size: width });
  input.setAttribute("aria-label", label);
  input.addEventListener("input", () => {
    input.size = Math.max(width, input.value.length);
    later();
  });
  return input;
}

function addDefine(name = "", value = "") {
  const row = document.createElement("span");
  const drop = document.createElement("button");
  row.className = "define";
  Object.assign(drop, { type: "button", textContent: "×" });
  drop.setAttribute("aria-label", `remove ${name || "this define"}`);
  drop.addEventListener("click", () => {
    row.remove();
    later();
  });
  row.append(field("name of a define", name, 4), "=", field(`value of ${name || "a define"}`, value, 3), drop);
  for (const input of row.querySelectorAll("input")) input.size = Math.max(input.size, input.value.length);
  $("rows").append(row);
  return row;
}

const defines = () =>
  [...document.querySelectorAll(".define")]
    .map((row) => [...row.querySelectorAll("input")].map((input) => input.value))
    .filter(([name]) => name.trim());

function open(program) {
  opened += 1;
  clear();
  $("rows").replaceChildren();
  for (const [name, value] of program.defines) addDefine(name, value);
  show(source, program.text);
  later();
  rendered();
}

// Nothing of the last program stays, whatever becomes of the next one.
function clear() {
  lines = {};
  mark(source, []);
  showResult(result, "", false);
  underline(source, []);
  tell([]);
  $("state").textContent = "";
}

// While Python is loading: the translation of an example, made when the site was built.
function rendered() {
  if (translator.ready || tab !== "python") return;
  const text = source.state.doc.toString();
  const known = RENDERED.find((each) => each.text === text && JSON.stringify(each.defines) === JSON.stringify(defines()));
  if (known) answered(known.answer, null);
}

// Questions and answers.

const translator = new Translator(heard);

function later() {
  clearTimeout(pause);
  pause = setTimeout(() => {
    translator.ask({ text: source.state.doc.toString(), defines: defines(), show: tab, opened });
    remember();
  }, PAUSE);
}

function heard({ loaded, ready, failed, answer, question, crashed, slow, took }) {
  if (loaded) progress(loaded);
  if (ready) {
    $("loading").hidden = true;
    document.body.dataset.ready = "true";
  }
  if (failed) failure(failed);
  if (crashed) tell([{ severity: "error", rendered: crashed }]);
  if (slow) {
    $("loading").hidden = false;
    stage("Starting the translator again");
    tell([{ severity: "error", rendered: `This text took more than ${slow} s, so the translator was stopped.` }]);
  }
  if (answer && question?.opened === opened) {
    if (answer.formatted === undefined) answered(answer, took);
    else {
      if (source.state.doc.toString() === question.text) show(source, answer.formatted);
      later();
    }
  }
}

function answered(answer, took) {
  $("result").classList.toggle("stale", !answer.ok);
  if (answer.ok) {
    lines = Object.fromEntries(Object.entries(answer.lines).map(([row, line]) => [Number(row), line]));
    showResult(result, answer.python, answer.shows === "gradient" || answer.shows === "c");
  }
  underline(source, answer.diagnostics);
  tell(answer.diagnostics);
  const errors = answer.diagnostics.filter((found) => found.severity === "error").length;
  const said = errors ? `${errors} error${errors > 1 ? "s" : ""}` : "translated";
  $("state").textContent = took === null ? "translated when this page was built" : `${said} in ${took.toFixed(0)} ms`;
  document.body.dataset.answers = Number(document.body.dataset.answers ?? 0) + 1;
  document.body.dataset.took = took ?? "";
}

// The same messages stay as they are: one of their buttons may have the focus.
let last = "[]";

function tell(found) {
  const now = JSON.stringify(found);
  if (now === last) return;
  last = now;
  const shown = found.map(({ severity, rendered, code, missing, from }) => {
    const box = document.createElement("div");
    const text = document.createElement("pre");
    box.className = severity;
    text.textContent = rendered;
    box.append(text);
    if (missing) box.append(button(`Define ${missing}`, () => addDefine(missing).querySelectorAll("input")[1].focus()));
    if (code) {
      const more = document.createElement("a");
      Object.assign(more, { href: `../errors/${code}.html`, textContent: `About ${code}` });
      box.append(more, button("Show", () => {
        source.dispatch({ selection: { anchor: from }, scrollIntoView: true });
        source.focus();
      }));
    }
    return box;
  });
  $("messages").replaceChildren(...shown);
  $("messages").hidden = shown.length === 0;
}

function button(text, pressed) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: text });
  made.addEventListener("click", pressed);
  return made;
}

// Loading.

const stage = (text) => ($("stage").textContent = text);

function progress(loaded) {
  const mega = (bytes) => (bytes / 1e6).toFixed(1);
  $("progress").value = size ? Math.min(loaded / size, 1) : 0;
  stage(loaded >= size ? "Starting Python" : `Loading Python, ${mega(loaded)} of ${mega(size)} MB`);
}

function failure(reason) {
  stage(`The translator could not be downloaded (${reason}).`);
  $("loading").hidden = false;
  $("progress").hidden = true;
  $("retry").hidden = false;
}

$("retry").addEventListener("click", () => {
  $("retry").hidden = true;
  $("progress").hidden = false;
  $("progress").value = 0;
  stage("Loading Python");
  translator.retry();
});

// Links, tabs, theme.

async function remember() {
  const link = await toLink({ text: source.state.doc.toString(), defines: defines() });
  history.replaceState(null, "", link);
}

async function copied(made, text, before) {
  try {
    await navigator.clipboard.writeText(text);
    made.textContent = "Copied";
  } catch {
    made.textContent = "Not allowed";
  }
  setTimeout(() => (made.textContent = before), 1500);
}

$("share").addEventListener("click", async () => {
  await remember();
  copied($("share"), location.href, "Copy link");
});
$("copy").addEventListener("click", () => copied($("copy"), result.state.doc.toString(), "Copy"));
$("format").addEventListener("click", () =>
  translator.ask({ text: source.state.doc.toString(), defines: [], show: "format", opened }),
);
$("more").addEventListener("click", () => addDefine().querySelector("input").focus());
$("defines").addEventListener("submit", (event) => event.preventDefault());

const TABS = ["python", "gradient", "folded", "c"];

function choose(name) {
  tab = name;
  for (const other of TABS) {
    $(`tab-${other}`).setAttribute("aria-selected", String(other === name));
    $(`tab-${other}`).tabIndex = other === name ? 0 : -1;
  }
  $("result").setAttribute("aria-labelledby", `tab-${name}`);
  later();
}
for (const name of TABS) {
  $(`tab-${name}`).addEventListener("click", () => choose(name));
  $(`tab-${name}`).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const by = event.key === "ArrowRight" ? 1 : TABS.length - 1;
    const next = TABS[(TABS.indexOf(name) + by) % TABS.length];
    choose(next);
    $(`tab-${next}`).focus();
  });
}

const dark = () =>
  document.documentElement.dataset.theme === "dark" ||
  (document.documentElement.dataset.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);

function paint(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = dark() ? "Light" : "Dark";
}
$("theme").addEventListener("click", () => {
  paint(dark() ? "light" : "dark");
  localStorage.setItem("theme", document.documentElement.dataset.theme); // the key of the site's own pages
});
paint(localStorage.getItem("theme") ?? "auto");

for (const [number, { name }] of EXAMPLES.entries()) $("examples").append(new Option(name, number));
$("examples").addEventListener("change", (event) => open(EXAMPLES[event.target.value]));
window.addEventListener("hashchange", async () => {
  const program = await fromLink(location.hash);
  if (program) open(program);
});

fetch("./size.json").then((answer) => answer.json()).then((said) => (size = said.bytes), () => {});
fromLink(location.hash).then((program) => open(program ?? EXAMPLES[0]));
if ("serviceWorker" in navigator) navigator.serviceWorker.register("./offline.js").catch(() => {});
