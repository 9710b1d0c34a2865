// Finds the modules of this program by their names alone. For each of about 800 modules, Node would check that the file
// exists, its real path and the package it belongs to, which took a sixth of the start time.
import { registerHooks } from 'node:module';

const SOURCES = new URL('..', import.meta.url).href;

registerHooks({
  resolve(name, context, next) {
    const { parentURL = '' } = context;
    if (!name.startsWith('.') || !name.endsWith('.ts') || !parentURL.startsWith(SOURCES)) return next(name, context);
    return { url: new URL(name, parentURL).href, format: 'module-typescript', shortCircuit: true };
  },
});
