// Strategy check: validation of a request's payloads against what the caller's tier and the market data allow.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkStrategy, divides, isMembers, longestMs, shortestMs } from '../../engine/index.ts';
import type { CheckOutcome, Timeframe, ValidationIssue } from '../../engine/index.ts';
import type { VersionContent } from '../../db/strategyVersions.ts';
import { TIER_LIMITS, type Tier } from '../../tiers.ts';
import type { Asker } from '../http/bodyLimits.ts';
import { jsonBytes } from '../http/jsonBytes.ts';
import { loopShare } from '../http/loopShare.ts';
import { validationIssues } from '../http/failures.ts';
import { faultsMessage, problem, type ProblemIssue } from '../http/problems.ts';
import type { Services } from '../services.ts';

type Json = Readonly<Record<string, unknown>>;

/** The members of a body that hold a strategy. */
export interface Payloads {
  readonly settings: Json;
  readonly strategyAst?: Json | null | undefined;
  readonly signalGraph?: Json | null | undefined;
}

/**
 * Checks payloads, or a body that may hold them elsewhere, against a tier and the market data. Not to be called inside
 * a transaction: the catalog may query Postgres, and all connections might be held by transactions that wait for this
 * one.
 */
export async function checkPayloads(
  services: Pick<Services, 'catalogs'>,
  asker: Asker,
  { strategyAst, signalGraph, ...others }: { readonly [Member in keyof Payloads]?: unknown },
): Promise<CheckOutcome> {
  const series = await services.catalogs.of(asker.workspaceId).list();
  const context = {
    limits: TIER_LIMITS[asker.tier],
    knownSymbols: new Set(series.map(({ symbol }) => symbol)),
    // Finer bars are resampled.
    barsOf: (symbol: string, timeframe: Timeframe) =>
      series
        .filter((one) => one.symbol === symbol && (one.timeframe === timeframe || divides(one.timeframe, timeframe)))
        .reduce((most, one) => Math.max(most, barsMade(one, timeframe)), 0),
  };
  const payloads = { strategyAst: strategyAst ?? undefined, signalGraph: signalGraph ?? undefined };
  return loopShare.measure(asker.workspaceId, () => checkStrategy({ ...others, ...payloads }, context));
}

/** How many bars of `timeframe` are made of the bars of a series of the same timeframe or of a finer one. */
const barsMade = (one: { readonly bars: number; readonly timeframe: Timeframe }, timeframe: Timeframe): number =>
  one.timeframe === timeframe ? one.bars : Math.floor((one.bars * longestMs(one.timeframe)) / shortestMs(timeframe));

/** The symbols that there is market data of, for a workspace. */
export async function knownSymbols(
  { catalogs }: Pick<Services, 'catalogs'>,
  workspaceId: string,
): Promise<ReadonlySet<string>> {
  return new Set((await catalogs.of(workspaceId).list()).map((series) => series.symbol));
}

/**
 * What is stored of valid payloads: the payloads as sent, and for a graph alone the AST it compiles to. Null when they
 * are not valid.
 */
export function contentOf(payloads: Payloads, outcome: CheckOutcome): VersionContent | null {
  if (!outcome.valid || outcome.compiled === null) return null;
  return {
    settings: payloads.settings,
    strategyAst: payloads.strategyAst ?? { ...outcome.compiled.strategyAst },
    signalGraph: payloads.signalGraph ?? null,
    strategyHash: outcome.compiled.strategyHash,
  };
}

export const warningsOf = (outcome: CheckOutcome): ValidationIssue[] =>
  outcome.issues.filter((issue) => issue.severity === 'warning');

/** @throws STRATEGY_INVALID unless there is content to store. */
export function requireValid(content: VersionContent | null, outcome: CheckOutcome): asserts content is VersionContent {
  if (content !== null) return;
  const { errors } = outcome.summary;
  throw problem('STRATEGY_INVALID', {
    message: `The strategy has ${errors} blocking ${errors === 1 ? 'issue' : 'issues'}.`,
    issues: outcome.issues,
    extras: {
      summary: outcome.summary,
      nextSteps: ['Apply the patches, repair the other errors, then send it again.'],
    },
  });
}

/**
 * For routes with `attachValidation`: reports a wrong envelope together with every fault of the payloads inside it, so
 * that one round of repairs is enough.
 * @throws VALIDATION_FAILED
 */
export async function requireEnvelope(services: Services, asker: Asker, request: FastifyRequest): Promise<void> {
  if (!request.validationError) return;
  const faults = validationIssues(request.validationError, request);
  const inner = await issuesInside(services, asker, request.body);
  // What stands elsewhere in the request is explained, with its patch, by the check of the strategy.
  const isExplained = ({ code, path }: ProblemIssue): boolean =>
    code === 'PAYLOAD_REQUIRED'
      ? inner.length > 0 && !inner.some((issue) => issue.code === code && issue.patch === undefined)
      : inner.some((issue) => issue.path === path && issue.patch !== undefined);
  const outer = faults.filter((fault) => !isExplained(fault));
  const issues = [...outer, ...inner.filter((issue) => !outer.some((fault) => fault.path === issue.path))];
  // Warnings are listed with them, and are not counted as faults.
  const errors = issues.filter(({ severity }) => severity !== 'warning');
  throw problem('VALIDATION_FAILED', { message: faultsMessage(errors), issues });
}

async function issuesInside(services: Services, asker: Asker, body: unknown): Promise<readonly ProblemIssue[]> {
  if (!isMembers(body)) return [];
  const { issues } = await checkPayloads(services, asker, body);
  // Nothing in it is a payload, which the envelope says already.
  return issues.some(({ code, patch }) => code === 'PAYLOAD_REQUIRED' && patch === undefined) ? [] : issues;
}

/**
 * `preValidation` of the strategy writes: payloads above the tier's size are refused before their form is checked.
 */
export async function limitPayloads(request: FastifyRequest, _reply: FastifyReply): Promise<void> {
  limitPayloadBytes(request, request.caller.tier);
}

/** @throws PAYLOAD_TOO_LARGE */
export function limitPayloadBytes(request: FastifyRequest, tier: Tier): void {
  const limit = TIER_LIMITS[tier].payloadBytes;
  // Compact JSON is never longer than what was sent, but for escapes; most bodies are done here.
  if (request.rawBody === null || request.rawBody.length <= limit || !isMembers(request.body)) return;
  const { strategyAst, signalGraph } = request.body;
  if (payloadBytes(strategyAst) + payloadBytes(signalGraph) <= limit) return;
  throw problem('PAYLOAD_TOO_LARGE', {
    message: `strategyAst and signalGraph together may have ${limit} bytes on the ${tier} tier.`,
    extras: { limit, limitName: 'payloadBytes', tier },
  });
}

function payloadBytes(payload: unknown): number {
  try {
    return jsonBytes(payload ?? undefined);
  } catch (error) {
    // Nested too deeply to be serialized, which no valid strategy is.
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
}
