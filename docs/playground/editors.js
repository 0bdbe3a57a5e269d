// The two editors: Triton-C to type in, Python to read. `mark` lights up lines, `underline` shows diagnostics.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

import { tritonC } from "./language.js";

const setMarks = StateEffect.define();

const marks = StateField.define({
  create: () => Decoration.none,
  update(found, change) {
    found = found.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(setMarks)) continue;
      const lines = effect.value.filter((line) => line >= 1 && line <= change.state.doc.lines);
      found = Decoration.set(lines.map((line) => MARK.range(change.state.doc.line(line).from)));
    }
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});
const language = new Compartment(); // of the result: Python, or Triton-C for a gradient
const MARK = Decoration.line({ class: "same-line" });

const BOTH = [
  lineNumbers(),
  drawSelection(),
  bracketMatching(),
  highlightSelectionMatches(),
  syntaxHighlighting(classHighlighter),
  marks,
];

// `told(line)` says on which line the cursor is, or the mouse.
function lineEvents(told) {
  return [
    EditorView.updateListener.of((change) => {
      if (change.selectionSet && change.view.hasFocus) told(change.state.doc.lineAt(change.state.selection.main.head).number);
    }),
    EditorView.domEventHandlers({
      mousemove(event, view) {
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
        told(view.state.doc.lineAt(at).number);
      },
    }),
  ];
}

export function sourceEditor(parent, { changed, line }) {
  return new EditorView({
    parent,
    extensions: [
      BOTH,
      history(),
      indentUnit.of("  "),
      tritonC,
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": "Triton-C", spellcheck: "false", autocapitalize: "off" }),
      EditorView.updateListener.of((change) => change.docChanged && changed()),
      lineEvents(line),
    ],
  });
}

export function resultView(parent, { line }) {
  return new EditorView({
    parent,
    extensions: [
      BOTH,
      language.of(python()),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ "aria-label": "Python", tabindex: "0" }),
      lineEvents(line),
    ],
  });
}

export function show(view, text) {
  if (view.state.doc.toString() === text) return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

export function showResult(view, text, isTritonC) {
  view.dispatch({ effects: language.reconfigure(isTritonC ? tritonC : python()) });
  show(view, text);
}

export function mark(view, lines, { scroll = false } = {}) {
  const effects = [setMarks.of([...lines].sort((a, b) => a - b))];
  if (scroll && lines.length) {
    const first = Math.min(Math.min(...lines), view.state.doc.lines);
    effects.push(EditorView.scrollIntoView(view.state.doc.line(first).from, { y: "nearest", yMargin: 40 }));
  }
  view.dispatch({ effects });
}

export function underline(view, found) {
  const end = view.state.doc.length;
  const shown = found.map(({ from, to, severity, message, code }) => ({
    from: Math.min(from, end),
    to: Math.min(to, end),
    severity,
    message: code ? `${message} [${code}]` : message,
  }));
  view.dispatch(setDiagnostics(view.state, shown));
}
