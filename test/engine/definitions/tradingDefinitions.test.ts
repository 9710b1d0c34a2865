import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../src/config.ts';
import { EXIT_REASONS, exitReasonOf } from '../../../src/engine/definitions/exitReasons/exitReasons.ts';
import { LEVEL_MODES } from '../../../src/engine/definitions/levels/levelModes.ts';
import { EXIT_SIZES } from '../../../src/engine/definitions/sizing/exitSizes.ts';
import { SIZING_MODES } from '../../../src/engine/definitions/sizing/sizingModes.ts';
import { WEIGHT_MODES } from '../../../src/engine/definitions/weights/weightModes.ts';
import { SLIPPAGE_KINDS } from '../../../src/engine/definitions/slippage/slippageKinds.ts';

const DEFINITIONS = 'src/engine/definitions';
const REGISTRIES: Readonly<Record<string, readonly object[]>> = {
  exitReasons: EXIT_REASONS.map(exitReasonOf),
  levels: LEVEL_MODES,
  sizing: [...SIZING_MODES, ...EXIT_SIZES],
  slippage: SLIPPAGE_KINDS,
  weights: WEIGHT_MODES,
};
/** Files that define no member of a registry: what a definition is, and the lists. */
const FRAMES: ReadonlySet<string> = new Set([
  'exitReason.ts', 'exitReasons.ts', 'exitSize.ts', 'exitSizes.ts', 'levelMode.ts', 'levelModes.ts', 'sizingMode.ts',
  'sizingModes.ts', 'slippageKind.ts', 'slippageKinds.ts', 'weightMode.ts', 'weightModes.ts',
]); // prettier-ignore

const files = (pattern: string): string[] =>
  globSync(pattern, { cwd: ROOT })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();
const definitionFiles = files(`${DEFINITIONS}/{${Object.keys(REGISTRIES).join(',')}}/*.ts`).filter(
  (file) => !FRAMES.has(basename(file)),
);

describe('a registry of trading definitions', () => {
  it.each(definitionFiles)('lists the definition of %s once', async (file) => {
    const module = (await import(join(ROOT, file))) as Readonly<Record<string, unknown>>;
    const [folder] = file.slice(DEFINITIONS.length + 1).split('/');
    const listed = REGISTRIES[folder].filter((definition) => Object.values(module).includes(definition));
    expect(listed, `${file} is not in the registry of ${DEFINITIONS}/${folder}/`).toHaveLength(1);
  });

  it('lists nothing twice, and nothing without a file', () => {
    const listed = Object.values(REGISTRIES).flat();
    expect(new Set(listed).size).toBe(listed.length);
    expect(definitionFiles).toHaveLength(listed.length);
  });

  it.each([
    ['sizing modes', SIZING_MODES.map(({ mode }) => mode)],
    ['exit sizes', EXIT_SIZES.map(({ mode }) => mode)],
    ['level modes', LEVEL_MODES.map(({ mode }) => mode)],
    ['weight modes', WEIGHT_MODES.map(({ mode }) => mode)],
    ['slippage kinds', SLIPPAGE_KINDS.map(({ kind }) => kind)],
  ])('gives %s different names', (_, names) => expect(new Set(names).size).toBe(names.length));

  it('lets a level be offered somewhere', () => {
    const useless = LEVEL_MODES.filter(({ stop, trigger, distance }) => (stop ?? trigger ?? distance) === null);
    expect(useless).toEqual([]);
  });
});

describe('an exit reason', () => {
  const loop = files('src/engine/simulate/**/*.ts').map((file) => readFileSync(join(ROOT, file), 'utf8'));

  it.each(definitionFiles.filter((file) => file.includes('/exitReasons/')))('is given by the loop: %s', (file) => {
    const name = basename(file, '.ts');
    expect(loop.filter((text) => text.includes(`${name}.reason`)).length, `nothing closes for ${file}`).not.toBe(0);
  });
});

describe('the codes of exit reasons', () => {
  /** As stored results have them. A new reason is added at the end; no line is ever changed. */
  const STORED = [
    'signal', 'stop_loss', 'take_profit', 'trailing_stop', 'breakeven', 'time_stop', 'reverse', 'liquidation',
    'end_of_data',
  ]; // prettier-ignore

  it('are those of stored results', () => {
    const codes = EXIT_REASONS.map((reason) => [reason, exitReasonOf(reason).code]);
    expect(codes.slice(0, STORED.length)).toEqual(STORED.map((reason, code) => [reason, code]));
  });

  it('count up without a gap', () => {
    const codes = EXIT_REASONS.map((reason) => exitReasonOf(reason).code);
    expect(codes).toEqual(codes.map((_, index) => index));
  });
});

describe('the name of a definition', () => {
  const NAMES = new Set([
    ...[...SIZING_MODES, ...EXIT_SIZES, ...LEVEL_MODES].map(({ mode }) => mode as string),
    ...SLIPPAGE_KINDS.map(({ kind }) => kind),
    ...EXIT_REASONS,
  ]);
  /** Names that are also words of something else in these files. */
  const OTHER_WORDS: Readonly<Record<string, string>> = {
    'src/cli/member.ts none': 'a role',
    'src/engine/indicators/averages.ts none': 'no average',
    'src/engine/kernels/rollingCounts.ts none': 'a mode of rolling windows',
    'src/engine/language/check/sectionChecks.ts reverse': 'a policy of conflicts',
    'src/engine/language/hints/synonyms.ts price': 'a member',
    'src/engine/robustness/stress.ts breakeven': 'a rule of risk',
  };
  /** What decides by a name: a comparison, a case, a lookup, a type. Writing a payload (`mode: 'percent'`) does not. */
  const DECISIONS = [
    /[=!]==\s*'(?<name>\w+)'/g,
    /'(?<name>\w+)'\s*[=!]==/g,
    /\bcase '(?<name>\w+)'/g,
    /\b(?:has|includes|get|indexOf)\('(?<name>\w+)'\)/g,
    /\|\s*'(?<name>\w+_\w+)'/g,
  ];
  const code = (file: string): string => readFileSync(join(ROOT, file), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');

  it('decides nothing outside src/engine/definitions', () => {
    const found = files('src/{engine,api,jobs,cli}/**/*.ts')
      .filter((file) => !file.startsWith(DEFINITIONS))
      .flatMap((file) =>
        DECISIONS.flatMap((pattern) => [...code(file).matchAll(pattern)].map(({ groups }) => groups!.name))
          .filter((name) => NAMES.has(name))
          .map((name) => `${file} ${name}`),
      );
    expect(found.filter((each) => OTHER_WORDS[each] === undefined)).toEqual([]);
    expect(Object.keys(OTHER_WORDS).filter((each) => !found.includes(each))).toEqual([]);
  });
});
