// The code of the editor: JSON with its structure in color, and issues of the service at their places.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  ensureSyntaxTree,
  foldGutter,
  HighlightStyle,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Issue } from './api.ts';

type Node = NonNullable<ReturnType<typeof ensureSyntaxTree>>['topNode'];

export interface CodeEditor {
  readonly text: () => string;
  readonly setText: (text: string) => void;
  readonly showIssues: (issues: readonly Issue[]) => void;
  readonly goTo: (pointer: string) => void;
  readonly close: () => void;
}

const COLORS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--up)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--amber)' },
]);
const LOOK = EditorView.theme({
  '&': { fontSize: '13px', backgroundColor: 'var(--paper)', color: 'var(--ink)', height: '60vh' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, Menlo, Consolas, monospace' },
  '.cm-gutters': { backgroundColor: 'var(--wash)', color: 'var(--faint)', border: '0' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-tooltip': { backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)' },
});
const MOST_MS_OF_PARSING = 200;

/** @param parent an element of its own: the editor's styles stay inside */
export function openCodeEditor(parent: HTMLElement, text: string, onChange: () => void): CodeEditor {
  // In a shadow root the styles are objects; in the page they would be an inline style, which its policy stops.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const stateOf = (doc: string): EditorState =>
    EditorState.create({
      doc,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        bracketMatching(),
        json(),
        syntaxHighlighting(COLORS),
        lintGutter(),
        LOOK,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Strategy as JSON', tabindex: '0' }),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of((update) => update.docChanged && onChange()),
      ],
    });
  const view = new EditorView({ state: stateOf(text), root, parent: root });
  return {
    text: () => view.state.doc.toString(),
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    showIssues: (issues) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          issues.map((issue) => diagnosticOf(view.state, issue)),
        ),
      ),
    goTo: (pointer) => {
      const { from, to } = placeOf(view.state, pointer);
      view.dispatch({
        selection: { anchor: from, head: to },
        effects: EditorView.scrollIntoView(from, { y: 'center' }),
      });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

function diagnosticOf(state: EditorState, { path, message, severity, suggestion }: Issue): Diagnostic {
  const { from, to } = placeOf(state, path);
  const text = suggestion === undefined ? message : `${message} ${suggestion}`;
  return { from, to, message: text, severity: severity === 'warning' ? 'warning' : 'error' };
}

/** Where a JSON pointer leads in the text; as far as it leads, if a part of it is missing there. */
function placeOf(state: EditorState, pointer: string): { readonly from: number; readonly to: number } {
  const tree = ensureSyntaxTree(state, state.doc.length, MOST_MS_OF_PARSING);
  let node = tree?.topNode.firstChild ?? null;
  if (node === null) return { from: 0, to: 0 };
  for (const part of pointer.split('/').slice(1).map(unescaped)) {
    const next: Node | null = node.name === 'Array' ? itemOf(node, Number(part)) : memberOf(state, node, part);
    if (next === null) break;
    node = next;
  }
  // Of an object or a list, the bracket that opens it.
  const isLong = node.name === 'Object' || node.name === 'Array';
  return { from: node.from, to: isLong ? node.from + 1 : node.to };
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function itemOf(list: Node, index: number): Node | null {
  const items: Node[] = [];
  for (let child = list.firstChild; child !== null; child = child.nextSibling)
    if (!['[', ']', ',', '⚠'].includes(child.name)) items.push(child);
  return items[index] ?? null;
}

function memberOf(state: EditorState, object: Node, name: string): Node | null {
  for (const property of object.getChildren('Property')) {
    const key = property.getChild('PropertyName');
    if (key === null || state.sliceDoc(key.from, key.to) !== JSON.stringify(name)) continue;
    return property.lastChild;
  }
  return null;
}
