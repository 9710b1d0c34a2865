// Strategy bodies: stored strategies and versions as the contract shows them.
import type { NewStrategy, Strategy, StrategyHead } from '../../db/strategies.ts';
import type { StrategyVersion, VersionSummary } from '../../db/strategyVersions.ts';
import { noteMembers } from '../http/labelShapes.ts';
import type { ProblemIssue } from '../http/problems.ts';
import { isoOrNull, issueBodies } from '../http/routeSchemas.ts';
import { effectiveSettings } from './effectiveSettings.ts';

const headBody = (head: StrategyHead) => ({
  id: head.id,
  name: head.name,
  description: head.description,
  ...noteMembers(head),
  templateKey: head.templateKey,
  createdAt: head.createdAt.toISOString(),
  updatedAt: head.updatedAt.toISOString(),
  archivedAt: isoOrNull(head.archivedAt),
});

/** A version as the API answers it; payloads are passed through when there are any. */
export const versionBody = <Version extends VersionSummary>(version: Version) => ({
  ...version,
  createdAt: version.createdAt.toISOString(),
  readyAt: isoOrNull(version.readyAt),
});

/** A version with its payloads and its effective settings. */
export const wholeVersionBody = (version: StrategyVersion) => ({
  ...versionBody(version),
  effectiveSettings: effectiveSettings({ settings: version.settings, defaults: defaultsOf(version.strategyAst) }),
});

const defaultsOf = (ast: StrategyVersion['strategyAst']): StrategyVersion['settings'] | null =>
  (ast.strategy as { readonly defaults?: StrategyVersion['settings'] }).defaults ?? null;

export const strategyBody = (strategy: Strategy) => ({
  ...headBody(strategy),
  versionCount: strategy.versionCount,
  versions: strategy.versions.map(versionBody),
});
/** A new strategy, with the payloads of its only version. */
export const newStrategyBody = (strategy: NewStrategy) => ({
  ...headBody(strategy),
  versionCount: strategy.versionCount,
  versions: strategy.versions.map(wholeVersionBody),
});

export const finalizedBody = (
  version: StrategyVersion,
  warnings: readonly ProblemIssue[],
  duplicateOf: string | null,
) => ({ ...wholeVersionBody(version), warnings: issueBodies(warnings), duplicateOf });
