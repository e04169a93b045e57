/** The editors: CodeMirror for YAML, with completion, findings at their lines, and the keys of the system. */

import { acceptCompletion, autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Finding } from "./protocol";
import { completions, type Schema } from "./schema_completion";

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: "yaml-key" },
  { tag: [tags.string, tags.content], class: "yaml-text" },
  { tag: tags.comment, class: "yaml-comment" },
  { tag: [tags.meta, tags.separator, tags.punctuation, tags.labelName, tags.typeName], class: "yaml-mark" },
]);

const markLines = StateEffect.define<number[]>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(decorations, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(markLines)) continue;
      const { doc } = transaction.state;
      const known = [...new Set(effect.value)].filter((line) => line >= 1 && line <= doc.lines).sort((one, other) => one - other);
      return Decoration.set(known.map((line) => Decoration.line({ class: "marked-line" }).range(doc.line(line).from)));
    }
    return transaction.docChanged ? Decoration.none : decorations;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function common(label: string): Extension[] {
  return [
    lineNumbers(),
    drawSelection(),
    yaml(),
    syntaxHighlighting(COLOURS),
    EditorView.cspNonce.of("codemirror"), // of the policy in index.html: CodeMirror writes its styles into elements
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
    keymap.of([...searchKeymap, ...defaultKeymap]),
    marked,
  ];
}

/** Creates an editor for an input. `changed` is called after each change of the text. */
export function input(parent: HTMLElement, label: string, schema: Schema, changed: () => void): EditorView {
  const extensions = [
    ...common(label),
    history(),
    indentOnInput(),
    closeBrackets(),
    lintGutter(),
    autocompletion({ override: [completions(schema)], icons: false }),
    highlightActiveLine(),
    keymap.of([...completionKeymap, { key: "Tab", run: acceptCompletion }, ...historyKeymap, ...lintKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed();
    }),
  ];
  return new EditorView({ parent, state: EditorState.create({ extensions }) });
}

/** Creates a view of a text that cannot be changed. `chosen` gets the line of a click, or of the cursor after Enter. */
export function output(parent: HTMLElement, label: string, chosen: (line: number) => void): EditorView {
  const lineOf = (view: EditorView, position: number) => view.state.doc.lineAt(position).number;
  const extensions = [
    ...common(label),
    EditorState.readOnly.of(true),
    highlightActiveLine(),
    EditorView.contentAttributes.of({ "aria-readonly": "true" }),
    Prec.highest(
      keymap.of([
        {
          key: "Enter",
          run(view) {
            chosen(lineOf(view, view.state.selection.main.head));
            return true;
          },
        },
      ]),
    ),
    EditorView.domEventHandlers({
      click(event, view) {
        const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (position !== null) chosen(lineOf(view, position));
      },
    }),
  ];
  return new EditorView({ parent, state: EditorState.create({ extensions }) });
}

/** Replaces the whole text. */
export function write(view: EditorView, text: string): void {
  if (view.state.doc.toString() !== text) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

/** Shows findings at their lines. */
export function showFindings(view: EditorView, findings: Finding[]): void {
  const { doc } = view.state;
  const diagnostics = findings.map((finding): Diagnostic => {
    const line = doc.line(Math.min(Math.max(finding.line ?? 1, 1), doc.lines));
    const from = Math.min(line.from + Math.max((finding.column ?? 1) - 1, 0), line.to);
    return { from, to: line.to, severity: finding.severity, message: `${finding.code}: ${finding.message}` };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** Marks lines, and scrolls to the first. */
export function mark(view: EditorView, lines: number[]): void {
  view.dispatch({ effects: markLines.of(lines) });
  const first = lines[0];
  if (first && first <= view.state.doc.lines) {
    view.dispatch({ effects: EditorView.scrollIntoView(view.state.doc.line(first).from, { y: "center" }) });
  }
}

/** Moves the cursor and the focus to a line. */
export function go(view: EditorView, line: number): void {
  const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  view.focus();
}
