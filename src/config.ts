// The configuration: every environment variable the service knows, checked by one schema, read in one place.
import { availableParallelism } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import manifest from '../package.json' with { type: 'json' };

/** The folder of the repository; commands work from any current folder. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The version of the program and of its API. The version of the engine's rules is in src/engine/version.ts. */
export const VERSION = manifest.version;

/** The most simulation threads of one process. */
export const MAX_THREADS = 512;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const SWITCH_VALUES = ['on', 'off'] as const;
const STORAGE_KINDS = ['folder', 'postgres'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

const wholeNumber = (min: number, max: number) => {
  const message = `give a whole number from ${min} to ${max}`;
  return z.coerce.number(message).int(message).min(min, message).max(max, message);
};
const choice = <const V extends readonly string[]>(values: V) => z.enum(values, `give one of ${values.join(', ')}`);
const API_PATHS = /\/(public|workspaces|docs|mcp)(\/|$)/;

/** An address that paths are appended to. The result has no slash at the end. */
const publicAddress = () =>
  webAddress()
    .transform((text) => new URL(text))
    .refine(
      ({ search, hash }) => search === '' && hash === '',
      'give an address without ? and #, to which paths can be appended',
    )
    .refine(({ username, password }) => username === '' && password === '', 'leave out the user and the password')
    .refine(({ pathname }) => !API_PATHS.test(pathname), 'end the address before /public, /workspaces, /docs or /mcp')
    .transform((url) => url.href.replace(/\/+$/, ''));

const webAddress = () => z.url({ protocol: /^https?$/, error: 'give an address that begins with http:// or https://' });

/** Whether postgres.js can read the address: it decodes each part. */
function isDecodableUrl(text: string): boolean {
  try {
    decodeURIComponent(text);
    return URL.canParse(text);
  } catch {
    return false;
  }
}

/** An empty variable counts as absent: `DATABASE_URL= npm start` means the embedded database. */
const Environment = z.object({
  PORT: wholeNumber(0, 65_535).default(8080).describe('Port of the API; 0 picks a free one.'),
  HOST: z.string().default('127.0.0.1').describe('Address the API listens on; 0.0.0.0 listens on every network.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, { error: 'must begin with postgres:// or postgresql://', abort: true })
    .refine(
      isDecodableUrl,
      'write characters such as # / ? @ % of a password as %23 %2F %3F %40 %25, a port below 65536',
    )
    .optional()
    .describe('Postgres to use; default: an embedded Postgres 18 under DATA_DIR.'),
  DATA_DIR: z
    .string()
    .default(join(ROOT, '.candlepool'))
    .describe('Folder of market data files and of the embedded database.'),
  SNAPSHOT_STORAGE: choice(STORAGE_KINDS)
    .optional()
    .describe('Where hosts share market data: `postgres`, or the `folder` DATA_DIR/snapshots.'),
  WORKER_THREADS: wholeNumber(1, MAX_THREADS)
    .default(availableParallelism())
    .describe('Simulation threads of one worker process; default: one per core.'),
  LOG_LEVEL: choice(LOG_LEVELS).default('info').describe('Lowest level that is logged (JSON lines on stderr).'),
  AUTH_JWKS_URL: webAddress()
    .optional()
    .describe('Key set of your identity provider; default: none, only tokens that `candlepool token` signs.'),
  AUTH_ISSUER: z.string().min(1).default('candlepool').describe('The `iss` that a management token must carry.'),
  AUTH_AUDIENCE: z.string().min(1).default('candlepool').describe('The `aud` that a management token must carry.'),
  PUBLIC_URL: publicAddress()
    .optional()
    .describe(
      'Address under which clients reach the API, such as `https://example.com/candlepool`: links begin with it; ' +
        'default: links are paths at the address the request came to.',
    ),
  ALLOWED_ORIGINS: z
    .string()
    .transform((list) => list.split(',').map((each) => each.trim()))
    .pipe(z.array(webAddress()))
    .optional()
    .describe(
      'Origins of web pages that may call `/mcp`, such as `https://agent.example`; default: PUBLIC_URL and the own ' +
        'machine.',
    ),
  TRUSTED_PROXIES: z
    .string()
    .regex(/^[\w.:/]+( *, *[\w.:/]+)*$/, 'must be addresses or networks, separated by commas')
    .optional()
    .describe(
      'Addresses of your proxies, such as `10.0.0.0/8,loopback`, whose X-Forwarded-For is believed; default: none.',
    ),
  METRICS_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('Bearer token that `/metrics` asks for; default: none, keep the path private.'),
  WEBHOOKS_PRIVATE: choice(SWITCH_VALUES)
    .default('off')
    .describe('`on` lets webhooks reach private addresses, and receivers without TLS (`http://`).'),
  CANDLEPOOL_API_KEY: z.string().optional().describe('API key that `candlepool mcp` calls the service with.'),
  RATE_LIMITS: choice(SWITCH_VALUES).default('on').describe('`off` lifts the request limits by tier, for benches.'),
  WARM_UP: choice(SWITCH_VALUES)
    .default('on')
    .describe('Whether threads start and run samples ahead of their first work; `off` is for tests.'),
});

/** Defaults that depend on the machine or on other variables. */
const DEPENDENT_DEFAULTS: Readonly<Record<string, string>> = {
  DATA_DIR: '.candlepool in the repository',
  WORKER_THREADS: 'number of cores',
  SNAPSHOT_STORAGE: 'postgres with DATABASE_URL, else folder',
};

/** What a README table of the variables is made from: name, default, meaning. */
export function describeVariables(): { readonly name: string; readonly default: string; readonly meaning: string }[] {
  return Object.entries(Environment.shape).map(([name, schema]) => {
    const parsed = schema.safeParse(undefined);
    const fallback = parsed.success && parsed.data !== undefined ? String(parsed.data) : '';
    return { name, default: DEPENDENT_DEFAULTS[name] ?? fallback, meaning: schema.description ?? '' };
  });
}

export interface Config {
  readonly port: number;
  readonly host: string;
  /** undefined: embedded Postgres under dataDir. */
  readonly databaseUrl: string | undefined;
  /** Absolute. */
  readonly dataDir: string;
  readonly snapshotStorage: StorageKind;
  readonly workerThreads: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly auth: { readonly jwksUrl: string | undefined; readonly issuer: string; readonly audience: string };
  /** Without a trailing slash; undefined: the request's own address. */
  readonly publicUrl: string | undefined;
  /** Origins of web pages that may call /mcp, besides those of publicUrl and of the own machine. */
  readonly allowedOrigins: readonly string[];
  /** undefined: /metrics asks for no token. */
  readonly metricsToken: string | undefined;
  /** As Fastify's trustProxy takes it; false: the address of a client is that of its connection. */
  readonly trustedProxies: string | false;
  /** Whether webhooks may reach private addresses, and receivers without TLS. */
  readonly webhooksPrivate: boolean;
  readonly rateLimits: boolean;
  readonly warmUp: boolean;
  /** For `candlepool mcp`; undefined: not set. */
  readonly apiKey: string | undefined;
}

/** A variable has an invalid value; the message names every one and what to do. */
class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'USAGE';
}

/**
 * Reads and checks the environment.
 * @throws ConfigError naming every wrong variable at once.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const given = Object.fromEntries(
    Object.keys(Environment.shape).map((name) => [name, env[name] === '' ? undefined : env[name]]),
  );
  const parsed = Environment.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0]);
      return `${name}=${shownValue(name, given[name] ?? '')}: ${issue.message}`;
    });
    const them = faults.length === 1 ? 'it' : 'them';
    throw new ConfigError(
      `Environment: ${faults.join('; ')}. Correct or unset ${them}; README.md lists the variables.`,
    );
  }
  const values = parsed.data;
  return {
    port: values.PORT,
    host: values.HOST,
    databaseUrl: values.DATABASE_URL,
    dataDir: isAbsolute(values.DATA_DIR) ? values.DATA_DIR : join(process.cwd(), values.DATA_DIR),
    snapshotStorage: values.SNAPSHOT_STORAGE ?? (values.DATABASE_URL === undefined ? 'folder' : 'postgres'),
    workerThreads: values.WORKER_THREADS,
    logLevel: values.LOG_LEVEL,
    auth: { jwksUrl: values.AUTH_JWKS_URL, issuer: values.AUTH_ISSUER, audience: values.AUTH_AUDIENCE },
    publicUrl: values.PUBLIC_URL,
    allowedOrigins: values.ALLOWED_ORIGINS ?? [],
    metricsToken: values.METRICS_TOKEN,
    trustedProxies: values.TRUSTED_PROXIES ?? false,
    webhooksPrivate: values.WEBHOOKS_PRIVATE === 'on',
    rateLimits: values.RATE_LIMITS === 'on',
    warmUp: values.WARM_UP === 'on',
    apiKey: values.CANDLEPOOL_API_KEY,
  };
}

/** A value as a message may show it: without passwords and tokens. */
const shownValue = (name: string, value: string): string =>
  name === 'METRICS_TOKEN' ? '…' : name.endsWith('_URL') ? value.replace(/^(\w+:\/*)?.*@/s, '$1…@') : value;

/** The environment of a process that works on the same database and files as this one. */
export function environmentOf(config: Config, databaseUrl: string): NodeJS.ProcessEnv {
  const { dataDir, snapshotStorage } = config;
  return { ...process.env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir, SNAPSHOT_STORAGE: snapshotStorage };
}

/**
 * The environment of a process that works in a folder of its own on the embedded database, whatever is set here; only
 * errors are logged.
 */
export function isolatedEnvironment(dataDir: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    DATABASE_URL: '',
    DATA_DIR: dataDir,
    // Links lead to the process that answers, not to the service that this environment is for.
    PUBLIC_URL: '',
    LOG_LEVEL: process.env.LOG_LEVEL || 'error',
  };
}

/** The environment of a database server: where programs are found, and no locale that could color its messages. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '', LC_ALL: 'C' };
}

export interface Launch {
  /** `exec` under npx, `start` or `run` under npm; undefined: not started by npm. */
  readonly npmCommand: string | undefined;
  /** The script of our package.json that npm runs: `start` or `demo`. */
  readonly npmScript: string | undefined;
  /** PATH. */
  readonly searchPath: string;
  /** DATA_DIR as it was set; undefined: not set, or unused since DATABASE_URL is. */
  readonly dataDir: string | undefined;
  readonly hasDatabaseUrl: boolean;
}

/** Whether a browser could show a page on this machine; of Linux and its relatives, whether there is a display. */
export const hasScreen = (
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean => platform === 'darwin' || platform === 'win32' || !!env.DISPLAY || !!env.WAYLAND_DISPLAY;

/** How this process was started, as far as npm and the shell tell. */
export function readLaunch(env: Readonly<Record<string, string | undefined>> = process.env): Launch {
  const script = ['start', 'demo'].find((each) => each === env.npm_lifecycle_event);
  const isOurs = env.npm_lifecycle_script?.includes('scripts/node24.mjs') ?? false;
  return {
    npmCommand: env.npm_command,
    npmScript: isOurs ? script : undefined,
    searchPath: env.PATH ?? '',
    dataDir: env.DATABASE_URL ? undefined : env.DATA_DIR || undefined,
    hasDatabaseUrl: Boolean(env.DATABASE_URL),
  };
}
