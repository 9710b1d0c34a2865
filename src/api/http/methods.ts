// Methods: tells a path that does not exist (404) from one that has other methods (405 with Allow).
import { problem } from './problems.ts';
import { sendProblem } from './failures.ts';
import type { App } from '../services.ts';

interface KnownRoute {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}
declare module 'fastify' {
  interface FastifyInstance {
    /** Every route that there is, by its path. */
    readonly knownRoutes: ReadonlyMap<string, KnownRoute>;
  }
}

const WHERE_TO_LOOK = 'GET /docs has the guides, GET /public/v1/openapi.json every route.';

/** Must be called before the first route is registered, because it collects routes as they are added. */
export function answerUnknownRoutes(app: App): void {
  const routes = new Map<string, KnownRoute>();
  app.decorate('knownRoutes', routes);
  app.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const each of [method].flat()) route.methods.add(each);
    routes.set(url, route);
  });
  app.setNotFoundHandler((request, reply) => {
    app.rateLimits.chargeOpen(request.ip);
    const path = request.url.split('?', 1)[0];
    const allowed = [...routes.values()]
      .filter((route) => route.pattern.test(path))
      .flatMap((each) => [...each.methods]);
    if (allowed.length === 0 || allowed.includes(request.method))
      return sendProblem(
        request,
        reply,
        problem('NOT_FOUND', { message: `No route ${request.method} ${path}. ${WHERE_TO_LOOK}` }),
      );
    const allow = [...new Set(allowed)].toSorted().join(', ');
    const message = `${request.method} is not allowed here; allowed: ${allow}.`;
    return sendProblem(request, reply, problem('METHOD_NOT_ALLOWED', { message, headers: { allow } }));
  });
}

/**
 * `/strategies/:id` → a pattern of the paths it serves. The urls are our own, and hold no other special character than
 * dot.
 */
function patternOf(url: string): RegExp {
  const source = url
    .replace(/\/+$/, '')
    .replaceAll('.', '\\.')
    .replaceAll(/:[A-Za-z]+/g, '[^/]+')
    .replaceAll('*', '.*');
  return new RegExp(`^${source}/?$`);
}
