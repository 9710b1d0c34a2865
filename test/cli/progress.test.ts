// The progress bar on a real terminal: it draws whatever counts it is given, in one line, and erases itself.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/config.ts';
import { zipOf } from '../support/imports/textShapes.ts';
import { startOnTerminal } from '../support/terminal.ts';

const MODULE = join(ROOT, 'src', 'cli', 'progress.ts');
const ERASE = '\r\u001B[2K';

/** What is shown when a bar of `total` is updated with each of `counts`. */
async function draw(total: string, counts: readonly string[], columns = 100): Promise<string[]> {
  const script = `
    const { startProgress } = await import(${JSON.stringify(MODULE)});
    using progress = startProgress('running', ${total});
    for (const done of [${counts.join()}]) {
      progress.update(done);
      await new Promise((resolve) => setTimeout(resolve, 120));
    }`;
  const run = startOnTerminal([process.execPath, '--input-type=module', '-e', script], {}, columns);
  expect([await run.ended, run.screen()]).toEqual([0, expect.stringContaining(ERASE)]);
  return run.screen().split(ERASE).slice(1);
}

it('draws counts below zero, above the total and not finite without failing', async () => {
  const [below, half, above, strange, end] = await draw('200', ['-47', '100', '215', 'NaN']);
  expect(below).toBe(`running ${'░'.repeat(30)} 0/200 `);
  expect(half).toBe(`running ${'█'.repeat(15)}${'░'.repeat(15)} 100/200 `);
  expect(above).toBe(`running ${'█'.repeat(30)} 200/200 `);
  expect(strange).toBe(`running ${'░'.repeat(30)} 0/200 `);
  expect(end).toBe('');
});

it('draws a bar with a total of zero', async () => {
  expect(await draw('0', ['0'])).toEqual([`running ${'░'.repeat(30)} 0/0 `, '']);
});

it('stays within one line of a narrow terminal, so that it can be erased', async () => {
  const [line] = await draw('200', ['100'], 20);
  expect(line).toBe(`running ${'█'.repeat(11)}`);
});

it('shows which of many files an import reads, and erases itself before an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'candlepool-progress-'));
  const csv = 'time,open,high,low,close,volume\n2024-01-01,1,2,1,2,5\n2024-01-02,1,2,1,2,5\n';
  writeFileSync(join(folder, 'a.zip'), zipOf({ 'SPY-1d-2024-01.csv': csv, 'SPY-1d-2024-02.csv': csv }));
  writeFileSync(join(folder, 'b.csv'), 'time,open\n2024-01-01,1\n');
  const run = startOnTerminal([process.execPath, join(ROOT, 'src', 'main.ts'), 'data', 'import', folder], {}, 120);
  expect(await run.ended).toBe(1);
  rmSync(folder, { recursive: true });
  const drawn = run.screen().split(ERASE);
  expect(drawn.some((text) => text.startsWith(`Reading ${'░'.repeat(30)} 0/2 a.zip`))).toBe(true);
  expect(drawn.at(-1)).toMatch(/^[^░█]*b\.csv: No column reads as/);
});
