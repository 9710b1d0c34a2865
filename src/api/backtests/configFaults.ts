// Config faults: everything that is wrong with a request that holds a config, at once, so that one round of repairs is
// enough.
import type { FastifyRequest } from 'fastify';
import type { Queryable } from '../../db/connect.ts';
import { findVersions, type StrategyVersion } from '../../db/strategyVersions.ts';
import {
  checkConfigForm,
  configExampleFor,
  firstUniverse,
  isCovered,
  isMembers,
  type StrategyAst,
} from '../../engine/index.ts';
import type { WorkspaceCatalogs } from '../../market/workspaceCatalogs.ts';
import { validationIssues } from '../http/failures.ts';
import { faultsMessage, problem, type ProblemIssue } from '../http/problems.ts';
import { Uuid } from '../http/routeSchemas.ts';
import { BacktestCheck, rooted } from './backtestChecks.ts';

/**
 * For routes with `attachValidation` whose body has a `config`: its faults of form are reported with their repairs, and
 * together with what the market data and the strategy say about the repaired config.
 * @throws VALIDATION_FAILED
 */
export async function requireConfigBody(
  services: { readonly sql: Queryable; readonly catalogs: WorkspaceCatalogs },
  request: FastifyRequest,
): Promise<void> {
  if (!request.validationError) return;
  const faults = validationIssues(request.validationError, request);
  const id = isMembers(request.body) ? Uuid.safeParse(request.body.strategyVersionId) : undefined;
  const [version] = id?.success ? await findVersions(services.sql, request.caller.workspaceId, [id.data]) : [];
  const check = new BacktestCheck(services.catalogs, request.caller);
  const issues = await configFaults(request.body, faults, check, version);
  throw problem('VALIDATION_FAILED', {
    message: faultsMessage(issues),
    issues,
    ...(issues.some(({ field }) => field === 'config') && { extras: { example: configExampleFor(issues) } }),
  });
}

/**
 * The faults of a body that failed its schema. Its config is checked again by `checkConfigForm`, which knows repairs.
 * @param faults what the schema found
 * @param root what the paths of `faults` begin with, and the paths of the issues
 */
export async function configFaults(
  body: unknown,
  faults: readonly ProblemIssue[],
  check: BacktestCheck,
  version: StrategyVersion | undefined,
  root = '',
): Promise<ProblemIssue[]> {
  if (!isMembers(body) || !isMembers(body.config)) return [...faults];
  const { defaults } = (version?.strategyAst as StrategyAst | undefined)?.strategy ?? {};
  const form = checkConfigForm(body.config, {
    timeframe: defaults?.timeframe,
    symbol: defaults?.instrument?.symbol,
    universe: firstUniverse(body.space),
  });
  const inForm = form.issues.map((issue) => rooted(issue, root));
  const inConfig = (path: string): boolean => path === `${root}/config` || path.startsWith(`${root}/config/`);
  // Some faults only the schema finds, such as a text that cannot be stored.
  const others = faults.filter(({ path }) => !inConfig(path) || inForm.length === 0);
  if (version?.status !== 'ready' || form.repaired === null) return [...others, ...inForm];
  // Their patches would apply only to the repaired config, so they come with the next answer.
  const deeper = (await check.issues(version, form.repaired)).map((issue) => {
    const { patch, ...rest } = rooted({ ...issue, path: form.placeOf(issue.path) }, root);
    return inForm.length === 0 && patch !== undefined ? { ...rest, patch } : rest;
  });
  return [...others, ...inForm, ...deeper.filter(({ path }) => !isCovered(inForm, path))];
}
