// What the shape of a request is refused with: which member is wrong and what it takes, as a sentence.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { issuesOfZod } from '../../src/api/http/envelopeIssues.ts';
import {
  BacktestListQuery,
  BacktestQuery,
  BatchBody,
  CreateBacktestBody,
} from '../../src/api/backtests/backtestSchemas.ts';
import { RobustnessBody } from '../../src/api/backtests/robustnessSchemas.ts';
import { CreateSweepBody, SweepHeatmapQuery } from '../../src/api/sweeps/sweepSchemas.ts';
import { CreateBody } from '../../src/api/strategies/strategySchemas.ts';

const issues = (schema: z.ZodType, value: unknown) => issuesOfZod(schema.safeParse(value).error!.issues);
const messages = (schema: z.ZodType, value: unknown): string[] => issues(schema, value).map(({ message }) => message);

describe('a message about the shape of a request', () => {
  it.each<[string, z.ZodType, unknown, string]>([
    ['a number', BacktestListQuery, { limit: 'abc' }, '"limit" must be a number.'],
    ['a whole number', BacktestListQuery, { limit: '1.5' }, '"limit" must be a whole number.'],
    ['a bound above', BacktestListQuery, { limit: '101' }, '"limit" must be at most 100.'],
    ['a bound below', BacktestQuery, { maxBytes: '10' }, '"maxBytes" must be at least 1000.'],
    ['the view that a bound is for', BacktestQuery, { maxBytes: '4000' }, 'Add view=agent, or leave out maxBytes.'],
    [
      'the choices',
      BacktestListQuery,
      { status: 'done' },
      '"status" must be one of queued, running, completed, failed, cancelled.',
    ],
    [
      'how a time is written',
      BacktestListQuery,
      { createdAfter: 'yesterday' },
      '"createdAfter" must be an ISO 8601 time with its zone, such as 2026-01-31T00:00:00Z.',
    ],
    ['the item of a list', RobustnessBody, { analyses: ['x'] }, '"analyses[0]" must be one of lookAheadAudit,'],
    ['the length of a list', BatchBody, { items: [] }, '"items" must have at least 1 item.'],
    ['an object', CreateBacktestBody, [], 'The body must be an object.'],
    [
      'an id',
      CreateBacktestBody,
      { strategyVersionId: 'x', config: {} },
      '"strategyVersionId" must be an id (a UUID).',
    ],
    [
      'a rule of its own',
      z.object({ name: z.string().max(3, 'must be short') }),
      { name: 'long' },
      '"name" must be short.',
    ],
  ])('names %s', (_what, schema, value, message) => {
    expect(messages(schema, value)).toContainEqual(expect.stringContaining(message));
  });

  it('says above which bound a number must be', () => {
    const spec = { space: { fast: { min: 1, max: 2, step: 0 } }, method: 'grid' };
    expect(messages(CreateSweepBody, spec)).toContain('"step" must be above 0.');
  });

  it.each([
    ['objective', CreateSweepBody, { objective: 'sharpe' }, 'sharpeRatio'],
    ['sort', BacktestListQuery, { sort: '-sharp' }, '-sharpeRatio'],
    ['method', CreateSweepBody, { method: 'latin hypercube' }, 'latin_hypercube'],
  ])('suggests the name that was meant by %s', (member, schema, sent, meant) => {
    const found = issuesOfZod(schema.safeParse(sent).error!.issues, '', sent).find(({ field }) => field === member)!;
    expect(found.message).toBe(`"${member}" cannot be ${JSON.stringify(Object.values(sent)[0])}.`);
    expect(found.suggestion).toBe(`Did you mean "${meant}"?`);
  });

  it('names a missing query parameter as such', () => {
    const { issues: missing } = SweepHeatmapQuery.safeParse({ x: 'fast' }).error!;
    expect(issuesOfZod(missing, '/query')).toMatchObject([{ message: 'Missing query parameter "y".' }]);
  });

  it('names an empty or blank name once', () => {
    const named = (name: string) => messages(CreateBody, { name, settings: {}, strategyAst: {} });
    expect(named('')).toEqual(['"name" must have at least 1 character.']);
    expect(named(' ')).toEqual(['"name" must have a character that shows.']);
  });

  it.each([
    [7, 'The item must be an object.'],
    [null, 'Missing item.'],
  ])('calls an item of a batch an item: %j', (item, message) => {
    const { issues: found } = CreateBacktestBody.safeParse(item).error!;
    expect(issuesOfZod(found, '/items/2')).toMatchObject([{ path: '/items/2', message }]);
  });

  const sweep = { space: { fast: { values: [5] } }, method: 'grid' };
  it.each<[string, z.ZodType, object, string, string, string | undefined]>([
    [
      'a missing name',
      CreateSweepBody,
      { ...sweep, method: undefined },
      '/method',
      'Missing member "method".',
      'Use one of grid',
    ],
    [
      'a missing kind',
      CreateSweepBody,
      { ...sweep, walkForward: { folds: 3 } },
      '/walkForward/kind',
      'Missing member "kind".',
      'Use one of anchored, rolling.',
    ],
    [
      'a list as a dimension',
      CreateSweepBody,
      { ...sweep, space: { fast: [5, 10] } },
      '/space/fast',
      '"fast" must be {"values": […]}, or a range such as {"min": 2, "max": 30}.',
      'Write {"values":[5,10]} for these 2 values, or {"min":5,"max":10} for a range.',
    ],
    [
      'a text as a constraint',
      CreateSweepBody,
      { ...sweep, constraints: ['fast < slow'] },
      '/constraints/0',
      '"constraints[0]" must be an object.',
      'Write {"left":"fast","op":"lt","right":"slow"}.',
    ],
    [
      'a text without an operator as a constraint',
      CreateSweepBody,
      { ...sweep, constraints: ['fast'] },
      '/constraints/0',
      '"constraints[0]" must be an object.',
      '"op": "lt"',
    ],
    [
      'a wrong direction',
      CreateSweepBody,
      { ...sweep, objective: { key: 'cagr', direction: 'up' } },
      '/objective/direction',
      '"direction" must be one of maximize, minimize.',
      undefined,
    ],
    [
      'a text as a list',
      RobustnessBody,
      { analyses: 'monteCarlo' },
      '/analyses',
      '"analyses" must be a list.',
      'Put it into a list: ["monteCarlo"].',
    ],
    [
      'a misspelled item',
      RobustnessBody,
      { analyses: ['bootstrap'] },
      '/analyses/0',
      '"analyses[0]" cannot be "bootstrap".',
      'Did you mean "blockBootstrap"?',
    ],
  ])('reports %s once, and the way out', (_what, schema, sent, path, message, suggestion) => {
    const found = issuesOfZod(schema.safeParse(sent).error!.issues, '', sent).filter(
      (issue) => issue.path !== '/strategyVersionId' && issue.path !== '/config',
    );
    expect(found).toMatchObject([{ path, message }]);
    if (suggestion === undefined) expect(found[0].suggestion).toBeUndefined();
    else expect(found[0].suggestion).toContain(suggestion);
  });

  it('suggests the missing member that an unknown one misspells', () => {
    const found = issues(CreateBacktestBody, { strategyVersionID: 'x', config: { timeframe: '1d', foo: 1 } });
    expect(found.find(({ path }) => path === '/strategyVersionID')).toMatchObject({
      message: 'Unknown member "strategyVersionID".',
      suggestion: 'Did you mean "strategyVersionId"?',
    });
    expect(found.find(({ path }) => path === '/config/foo')?.message).toBe('Unknown member "foo"; remove it.');
  });

  it.each(['backtests', 'runs', 'requests'])('says that the list of a batch is "items", not %s', (name) => {
    const sent = { [name]: [{ strategyVersionId: 'x', config: {} }] };
    const names = Object.keys(BatchBody.shape);
    expect(issuesOfZod(BatchBody.safeParse(sent).error!.issues, '', sent, names)).toMatchObject([
      { path: '/items', suggestion: 'Send a list of {"strategyVersionId": …, "config": {…}}.' },
      { path: `/${name}`, message: `Unknown member "${name}".`, suggestion: 'Name this list "items".' },
    ]);
  });

  it('says where several backtests go', () => {
    const found = issues(CreateBacktestBody, { items: [] });
    expect(found.find(({ path }) => path === '/items')).toMatchObject({
      suggestion: 'Send several backtests to POST /public/v1/backtests/batch.',
    });
  });

  it('says that a bare list is the "items" of a batch', () => {
    const sent = [{ strategyVersionId: 'x', config: {} }];
    expect(issuesOfZod(BatchBody.safeParse(sent).error!.issues, '', sent, Object.keys(BatchBody.shape))).toMatchObject([
      { code: 'TYPE_MISMATCH', path: '', suggestion: expect.stringContaining('{"items": […]}') as string },
    ]);
  });

  it.each(['limit', 'symbol', 'status'])('says that the query parameter %s is given twice', (name) => {
    const query = { [name]: ['1', '2'] };
    expect(issuesOfZod(BacktestListQuery.safeParse(query).error!.issues, '/query', query)).toMatchObject([
      { code: 'DUPLICATE_MEMBER', path: `/query/${name}`, message: `"${name}" is given more than once.` },
    ]);
  });

  it('says what to send where settings are missing', () => {
    const missing = issues(CreateBody, { name: 'x', strategyAst: {} });
    expect(missing).toMatchObject([
      {
        message: 'Missing member "settings".',
        suggestion: 'Send {} for the defaults.',
        patch: [{ op: 'add', path: '/settings', value: {} }],
      },
    ]);
  });
});
