// The editor: validates while the user types, lists issues with links to their places, and applies repairs by a click.
import { applyPatch, type Operation } from 'fast-json-patch';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFault, attemptTo, call, type Issue } from './api.ts';
import { openCodeEditor, type CodeEditor } from './editorCode.ts';
import { counted } from './formats.ts';
import { html, type Children } from './markup.ts';
import { go, linkTo } from './route.ts';
import { complain, say } from './session.ts';
import type { WholeVersion } from './strategyVersion.ts';

interface EditorProps {
  readonly version: WholeVersion | null;
  readonly name?: string;
  readonly text: string;
}
interface Verdict {
  readonly valid: boolean;
  readonly issues: readonly Issue[];
  readonly requiresConfirmation: boolean;
}
type Body = Readonly<Record<string, unknown>>;

/** After the last key: one validation per pause, not one per key. */
const VALIDATE_AFTER_MS = 400;

export function EditorView({ version, name = '', text }: EditorProps): Children {
  const box = useRef<HTMLDivElement>(null);
  const code = useRef<CodeEditor>(null);
  const timer = useRef(0);
  const turn = useRef(0);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [isChecking, setChecking] = useState(true);

  const validate = async (): Promise<void> => {
    const own = ++turn.current;
    const found = await verdictOn(code.current!.text()).catch((error: unknown) => {
      if (!(error instanceof ApiFault)) throw error;
      return { valid: false, requiresConfirmation: false, issues: issuesOf(error) };
    });
    if (own !== turn.current || code.current === null) return;
    code.current.showIssues(found.issues);
    setVerdict(found);
    setChecking(false);
  };
  const validateSoon = (): void => {
    setChecking(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void validate(), VALIDATE_AFTER_MS);
  };
  useEffect(() => {
    code.current = openCodeEditor(box.current!, text, validateSoon);
    void validate();
    return () => {
      clearTimeout(timer.current);
      code.current?.close();
      code.current = null;
    };
  }, []);
  const repair = (issues: readonly Issue[]): void => {
    const steps = issues.flatMap(({ patch }) => patch ?? []) as Operation[];
    try {
      const { newDocument } = applyPatch(JSON.parse(code.current!.text()) as object, steps, false, false);
      code.current!.setText(JSON.stringify(newDocument, null, 2));
      say(`${counted(steps.length, 'change')} applied.`);
    } catch {
      complain('The repair no longer fits the text. Wait until the text is checked again.');
    }
  };
  const back = version === null ? linkTo('strategies') : linkTo(`strategies/${version.strategyId}`);
  const repairs = verdict?.issues.filter(({ patch }) => patch !== undefined) ?? [];
  return html`<div class="stack editor">
    <div class="heading-line">
      <h1>${version === null ? 'New strategy' : `Edit ${name} v${version.version}`}</h1>
      <p class="quiet" role="status">${isChecking ? 'Checking …' : verdictText(verdict)}</p>
    </div>
    <div class="editing">
      <div class="code" ref=${box}></div>
      <section class="card issues" aria-label="Issues">
        <h2>Issues</h2>
        ${
          repairs.length > 1 &&
          html`<button onClick=${() => repair(repairs)}>Apply all ${repairs.length} repairs</button>`
        }
        <ul>
          ${verdict?.issues.map(
            (issue) =>
              html`<${IssueItem} issue=${issue} onRepair=${repair} onGo=${() => code.current?.goTo(issue.path)} />`,
          )}
        </ul>
        ${verdict?.issues.length === 0 && html`<p class="quiet">None.</p>`}
      </section>
    </div>
    <${SaveForm}
      version=${version}
      verdict=${isChecking ? null : verdict}
      text=${() => code.current!.text()}
      back=${back}
    />
  </div>`;
}

const verdictText = (verdict: Verdict | null): string => {
  if (verdict === null) return '';
  if (verdict.valid) return 'Valid';
  return verdict.requiresConfirmation ? 'Valid, but an entry can never be true' : 'Not valid';
};

/** @throws ApiFault when the body as a whole is refused */
async function verdictOn(text: string): Promise<Verdict> {
  const body = bodyOf(text);
  if (body instanceof Error) {
    const issue = { code: 'NOT_JSON', path: '', severity: 'error', message: `This is not valid JSON: ${body.message}` };
    return { valid: false, requiresConfirmation: false, issues: [issue] };
  }
  return call<Verdict>('POST', '/strategies/validate', { body });
}

function bodyOf(text: string): Body | Error {
  try {
    return JSON.parse(text) as Body;
  } catch (error) {
    return error as Error;
  }
}

const issuesOf = ({ issues, message }: ApiFault): readonly Issue[] =>
  issues.length > 0 ? issues : [{ code: 'REFUSED', path: '', severity: 'error', message }];

interface IssueProps {
  readonly issue: Issue;
  readonly onRepair: (issues: readonly Issue[]) => void;
  readonly onGo: () => void;
}

function IssueItem({ issue, onRepair, onGo }: IssueProps): Children {
  const { severity = 'error', message, suggestion, path, patch } = issue;
  return html`<li class=${`note ${severity}`}>
    <p><b>${message}</b> ${suggestion}</p>
    <div class="actions">
      <button class="plain" onClick=${onGo}><code>${path === '' ? 'whole text' : path}</code></button>
      ${patch && html`<button onClick=${() => onRepair([issue])}>Apply the repair</button>`}
    </div>
  </li>`;
}

interface SaveProps {
  readonly version: WholeVersion | null;
  readonly verdict: Verdict | null;
  readonly text: () => string;
  readonly back: string;
}

/** Saves what is written as a ready version: of the strategy it came from, or of a new one. */
function SaveForm({ version, verdict, text, back }: SaveProps): Children {
  const [isBusy, setBusy] = useState(false);
  const maySave = verdict !== null && (verdict.valid || verdict.requiresConfirmation);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const content = bodyOf(text()) as Body;
    setBusy(true);
    await attemptTo(async () => {
      const ignoreWarnings = form.get('confirmed') === 'on';
      const strategyId =
        version?.strategyId ?? (await createdId({ ...content, name: form.get('name'), ignoreWarnings }));
      // A new strategy has its content as draft 1.
      const body =
        version === null
          ? { version: 1, ignoreWarnings }
          : { ...content, forkedFromVersionId: version.id, ignoreWarnings };
      const saved = await call<{ version: number }>('POST', `/strategies/${strategyId}/versions/finalize`, { body });
      say(`Saved as version ${saved.version}.`);
      go(linkTo(`strategies/${strategyId}`, { version: String(saved.version) }));
    });
    setBusy(false);
  };
  return html`<form class="actions card" onSubmit=${submit}>
    ${version === null && html`<label>Name <input name="name" required maxlength="200" /></label>`}
    ${
      verdict?.requiresConfirmation &&
      html`<label
        ><input type="checkbox" name="confirmed" required /> Save even though an entry can never be true</label
      >`
    }
    <button class="main" disabled=${!maySave || isBusy}>${version === null ? 'Save' : 'Save as a new version'}</button>
    <a class="button" href=${back}>Cancel</a>
  </form>`;
}

const createdId = async (body: Body): Promise<string> =>
  (await call<{ id: string }>('POST', '/strategies', { body })).id;
