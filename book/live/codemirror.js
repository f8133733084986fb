// The editor that readers type into: CodeMirror, with the book's colours and keys. fetch.py bundles it into one file,
// which a page loads when a reader first wants to type.
import {
  acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, CompletionContext,
  completionStatus, moveCompletionSelection, selectedCompletion, startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore, isolateHistory } from "@codemirror/commands";
import { localCompletionSource, pythonLanguage } from "@codemirror/lang-python";
import {
  bracketMatching, indentOnInput, indentService, indentUnit, LanguageSupport, syntaxHighlighting,
} from "@codemirror/language";
import { EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, gutterLineClass, GutterMarker, keymap, lineNumbers } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// Put an editor into a place. `names` has what can follow a module's dot, and `above` are the cells above.
export function codemirror(place, { text, selection, attributes, names, above, changed, run }) {
  const view = new EditorView({
    parent: place,
    doc: text,
    selection,
    extensions: [
      keymap.of([{ key: "Shift-Enter", run }, { key: "Mod-Enter", run }, ...KEYS]),
      lineNumbers(),
      history(),
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      indentUnit.of("    "),
      indentService.of(afterTheEnd),
      new LanguageSupport(pythonLanguage),
      syntaxHighlighting(COLOURS),
      autocompletion({
        override: [members(names), own(above)],
        compareCompletions: (a, b) => a.label.length - b.label.length || a.label.localeCompare(b.label),
        selectOnOpen: false,
        interactionDelay: 0,
        defaultKeymap: false,
        icons: false,
      }),
      failed,
      EditorView.contentAttributes.of(attributes),
      EditorView.editorAttributes.of({ class: "highlight" }), // the book's other code has its colours by this name
      EditorView.updateListener.of((update) => update.docChanged && changed()),
      LOOKS,
    ],
  });
  return {
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    setText(after) {
      // One edit that can be undone, of what differs alone: a cursor elsewhere stays where it is.
      const changes = difference(view.state.doc.toString(), after);
      view.dispatch({ changes, annotations: isolateHistory.of("full") });
    },
    light(line) {
      const known = line !== null && line <= view.state.doc.lines;
      view.dispatch({ effects: fail.of(known ? line : null) });
      if (!known) return;
      const { scrollDOM } = view;
      const { top, bottom } = view.lineBlockAt(view.state.doc.line(line).from);
      const isSeen = top >= scrollDOM.scrollTop && bottom <= scrollDOM.scrollTop + scrollDOM.clientHeight;
      if (!isSeen) scrollDOM.scrollTop = top - scrollDOM.clientHeight / 2;
    },
  };
}

function difference(before, after) {
  const most = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < most && before[start] === after[start]) start += 1;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

// ---- the line that failed, until the program is edited

const fail = StateEffect.define();
const failed = StateField.define({
  create: () => null,
  update(line, { effects, docChanged }) {
    const told = effects.find((effect) => effect.is(fail));
    return told ? told.value : docChanged ? null : line;
  },
  provide: (field) => [
    EditorView.contentAttributes.from(field, (line) => (line === null ? {} : { "aria-invalid": "true" })),
    EditorView.decorations.compute([field], (state) => marked(state, Decoration.line({ class: "live-failed" }))),
    gutterLineClass.compute([field], (state) => marked(state, new FailedNumber())),
  ],
});

class FailedNumber extends GutterMarker {
  elementClass = "live-failed";
}

function marked(state, mark) {
  const line = state.field(failed);
  return line === null ? RangeSet.empty : RangeSet.of(mark.range(state.doc.line(line).from));
}

// ---- completion: nothing is inserted that a reader did not choose, with Tab or with an arrow and Enter

function members(names) {
  return (context) => {
    const [, path, word] = /([\w.]+)\.(\w*)$/.exec(context.matchBefore(/[\w.]+/)?.text ?? "") ?? [];
    if (!Object.hasOwn(names, path ?? "")) return null;
    const options = names[path].map(([label, type, info]) => ({ label, type, info }));
    return { from: context.pos - word.length, options, validFor: /^\w*$/ };
  };
}

function own(above) {
  const earlier = new Map(above.flatMap((source) => {
    const cell = EditorState.create({ doc: `${source}\n\n_`, extensions: pythonLanguage });
    const { options } = localCompletionSource(new CompletionContext(cell, cell.doc.length, true));
    return options.map((option) => [option.label, option]);
  }));
  return (context) => {
    const isShort = !context.explicit && !context.matchBefore(/\w\w/);
    const found = isShort || context.matchBefore(/\.\w*/) ? null : localCompletionSource(context);
    if (!found) return null;
    const here = new Set(found.options.map(({ label }) => label));
    return { ...found, options: [...found.options, ...[...earlier.values()].filter(({ label }) => !here.has(label))] };
  };
}

// ---- keys

function tab(view) {
  const { state } = view;
  if (completionStatus(state) === "active") {
    if (!selectedCompletion(state)) moveCompletionSelection(true)(view);
    if (acceptCompletion(view)) return true;
  }
  if (state.selection.ranges.some((range) => !range.empty)) return indentMore(view);
  const { head } = state.selection.main;
  const column = head - state.doc.lineAt(head).from;
  view.dispatch(state.replaceSelection(" ".repeat(4 - (column % 4))), { userEvent: "input", scrollIntoView: true });
  return true;
}

// CodeMirror by itself waits two seconds for the Tab after Escape, which is too short for some.
function leave(view) {
  closeCompletion(view);
  view.setTabFocusMode(3_600_000);
  return true;
}

const KEYS = [
  { key: "Tab", run: tab, shift: indentLess },
  { key: "Escape", run: leave },
  { key: "Enter", run: acceptCompletion }, // of what an arrow has chosen; otherwise it begins a line, below
  { key: "ArrowDown", run: moveCompletionSelection(true) },
  { key: "ArrowUp", run: moveCompletionSelection(false) },
  { key: "Ctrl-Space", run: startCompletion },
  ...closeBracketsKeymap,
  ...historyKeymap,
  ...defaultKeymap,
];

// A line after `return` belongs to what is around it.
function afterTheEnd(context, pos) {
  const isEnd = /^\s*(return|raise|pass|break|continue)\b(?!.*[([{,\\]\s*$)/.test(context.lineAt(pos, -1).text);
  if (context.simulatedBreak !== pos || !isEnd || context.textAfterPos(pos, 1).trim()) return undefined;
  return Math.max(context.lineIndent(pos, -1) - context.unit, 0);
}

// ---- looks: the colours are those of the theme, light and dark; Pygments has short names for them

const COLOURS = tagHighlighter([
  { tag: tags.comment, class: "c1" },
  { tag: tags.string, class: "s2" },
  { tag: tags.number, class: "mf" },
  { tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword], class: "k" },
  { tag: tags.moduleKeyword, class: "kn" },
  { tag: tags.operatorKeyword, class: "ow" },
  { tag: [tags.bool, tags.null], class: "kc" },
  { tag: tags.operator, class: "o" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "nf" },
  { tag: tags.definition(tags.className), class: "nc" },
  { tag: tags.meta, class: "nd" },
]);

const LOOKS = EditorView.theme({
  "&": { flex: "1", width: "auto", minWidth: "0", background: "none !important" },
  "&.cm-focused": { outline: "3px solid var(--pst-color-accent)" },
  ".cm-scroller": { maxHeight: "37rem", font: "inherit", lineHeight: "1.5" },
  ".cm-content": { padding: "0.5rem 0", caretColor: "var(--pst-color-text-base)" },
  ".cm-line": { padding: "0 0.5rem" },
  ".cm-gutters": { border: "0", background: "var(--pst-color-surface)", color: "var(--pst-color-text-muted)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "3rem", padding: "0 0.5rem" },
  ".cm-line.live-failed": { background: "color-mix(in srgb, var(--pst-color-danger) 22%, transparent)" },
  ".cm-gutterElement.live-failed": {
    background: "var(--pst-color-danger)", color: "var(--pst-color-background)", fontWeight: "bold",
  },
  "&.cm-focused .cm-matchingBracket": { background: "none", outline: "1px solid currentColor" },
  "&.cm-focused .cm-nonmatchingBracket": { background: "none", outline: "1px dotted var(--pst-color-danger)" },
  ".cm-tooltip": {
    border: "1px solid var(--pst-color-border)",
    background: "var(--pst-color-surface)",
    color: "var(--pst-color-text-base)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "inherit" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--pst-color-link)", color: "var(--pst-color-background)",
  },
  ".cm-tooltip.cm-completionInfo": { font: "0.875rem/1.4 var(--pst-font-family-base)" },
  // A telephone has no room for long lines, nor keys to move along them.
  "@media (max-width: 600px)": {
    ".cm-content": { flexShrink: "1", whiteSpace: "break-spaces", overflowWrap: "anywhere" },
    ".cm-lineNumbers .cm-gutterElement": { minWidth: "2rem" },
  },
});
