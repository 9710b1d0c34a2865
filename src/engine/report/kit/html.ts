// HTML templates: every inserted value is escaped, unless it is HTML made by the same template function.

export interface Html {
  readonly markup: string;
}
type Part = Html | string | number | readonly Part[];

/** Template tag: strings are escaped, `Html` is inserted as it is. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: texts.map((text, index) => text + (index < parts.length ? markupOf(parts[index]) : '')).join('') };
}

/** Text that already is HTML, CSS or a script. Must never contain anything that the author of a strategy wrote. */
export const trusted = (markup: string): Html => ({ markup });
export const NOTHING: Html = trusted('');

function markupOf(part: Part): string {
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  return 'markup' in part ? part.markup : part.map(markupOf).join('');
}

/** Escapes text for an element, or for an attribute in double quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** JSON that cannot end its script element, whatever names a strategy gives its nodes. */
const embeddedJson = (value: unknown): Html =>
  trusted(
    JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029'),
  );

interface Section {
  readonly id: string;
  readonly title: string;
  /** A sentence under the title: what the numbers are and their unit. */
  readonly note?: string;
}

/** A titled card of the page. */
export function section({ id, title, note }: Section, body: Html): Html {
  const lead = note === undefined ? NOTHING : html`<p class="lead">${note}</p>`;
  return html`<section class="card" id="${id}">
    <h2>${title}</h2>
    ${lead}${body}
  </section> `;
}

interface Heading {
  readonly text: string;
  /** Shown after the text, dimmed. */
  readonly unit?: string;
  readonly isText?: boolean;
  /** Of a column that stays in view while others scroll. */
  readonly isTotal?: boolean;
}

/**
 * A table in a box that scrolls horizontally by itself, so that the page never does. `rows` are whole `tr` elements.
 */
export function table(headings: readonly Heading[], rows: readonly Html[], attributes: Html = NOTHING): Html {
  const cells = headings.map(({ text, unit, isText, isTotal }) => {
    const shown = unit === undefined ? NOTHING : html` <small>${unit}</small>`;
    const kind = isText ? trusted(' class="text"') : isTotal ? trusted(' class="total"') : NOTHING;
    return html`<th scope="col" ${kind}>${text}${shown}</th>`;
  });
  return html`<div class="scroll" tabindex="0"><table${attributes}><thead><tr>${cells}</tr></thead>
<tbody>${rows.map((row) => html`${row} `)}</tbody></table></div>`;
}

/** A cell colored by the sign that its text shows: a value that rounds to zero is neither a gain nor a loss. */
export function signedCell(text: string): Html {
  return html`<td${tone(text)}>${text}</td>`;
}

/** The class attribute of a number as text: `down` below zero, `up` above, none at zero. */
export function tone(text: string): Html {
  if (!/[1-9]/.test(text)) return NOTHING;
  return trusted(text.startsWith('−') ? ' class="down"' : ' class="up"');
}

/** What a page contains; it makes no network requests. */
interface Page {
  readonly title: string;
  readonly style: string;
  readonly body: Html;
  /** What the scripts draw. */
  readonly data: unknown;
  readonly scripts: readonly string[];
}

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/** A whole page as one file, for phones and dark mode too. */
export function htmlPage({ title, style, body, data, scripts }: Page): string {
  return `<!doctype html>\n${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="${trusted(POLICY)}" />
        <title>${title}</title>
        <style>
          ${trusted(style)}
        </style>
      </head>
      <body>
        ${body}
        <script type="application/json" id="data">
          ${embeddedJson(data)}
        </script>
        ${[...scripts, READY].map(scriptElement)}
      </body>
    </html> `.markup
  }`;
}

/** What tests of a page wait for. */
const READY = "document.body.dataset.ready = 'yes'";

const scriptElement = (script: string): Html =>
  html`<script>
    ${trusted(script.replaceAll('</script', '<\\/script'))};
  </script> `;
