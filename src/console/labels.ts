// Labels: the name, tags and note of a strategy or a run, edited where they are shown.
import { useState } from 'preact/hooks';
import { attemptTo, call } from './api.ts';
import { html, type Children } from './markup.ts';
import { say } from './session.ts';

export interface Labels {
  readonly name?: string | null;
  readonly tags?: readonly string[];
  readonly note?: string | null;
}
interface LabelsProps {
  /** Of the API, such as /backtests/{id}. */
  readonly path: string;
  readonly labels: Labels;
  /** What it is called without a name of its own. */
  readonly title: string;
  readonly mayEdit: boolean;
  readonly onChange: () => void;
}

/** The heading of a page with its tags and note. */
export function LabeledHeading({ path, labels, title, mayEdit, onChange }: LabelsProps): Children {
  const [isEdited, setEdited] = useState(false);
  if (isEdited) {
    const close = (isChanged: boolean): void => {
      setEdited(false);
      if (isChanged) onChange();
    };
    return html`<${LabelForm} path=${path} labels=${labels} title=${title} onClose=${close} />`;
  }
  const { name, tags = [], note } = labels;
  return html`<div class="labeled">
    <h1>${name || title}</h1>
    ${mayEdit && html`<button class="plain" onClick=${() => setEdited(true)}>Edit name, tags and note</button>`}
    ${tags.length > 0 && html`<p class="tags">${tags.map((tag) => html`<span class="tag">${tag}</span>`)}</p>`}
    ${note && html`<p class="note-text">${note}</p>`}
  </div>`;
}

/** What was typed into a field of a form. */
export function fieldText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

interface LabelFormProps extends Pick<LabelsProps, 'path' | 'labels' | 'title'> {
  readonly onClose: (isChanged: boolean) => void;
}

function LabelForm({ path, labels, title, onClose }: LabelFormProps): Children {
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const text = (name: string): string => fieldText(form, name);
    const tags = [...new Set(text('tags').split(',').map((tag) => tag.trim()).filter(Boolean))]; // prettier-ignore
    const isStrategy = path.startsWith('/strategies');
    // A strategy always has a name.
    const name = text('name') || (isStrategy ? undefined : null);
    const body = { name, tags, note: text('note') || null };
    if (!(await attemptTo(() => call('PATCH', path, { body })))) return;
    say('Saved.');
    onClose(true);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onClose(false);
  };
  return html`<form class="fields labels" onSubmit=${submit} onKeyDown=${keys}>
    <label>Name <input name="name" maxlength="200" value=${labels.name ?? ''} placeholder=${title} autofocus /></label>
    <label>Tags, with commas <input name="tags" value=${(labels.tags ?? []).join(', ')} /></label>
    <label>Note <textarea name="note" rows="4" maxlength="4000">${labels.note ?? ''}</textarea></label>
    <div class="actions">
      <button class="main">Save</button>
      <button type="button" onClick=${() => onClose(false)}>Cancel</button>
    </div>
  </form>`;
}
