// Finds the modules of this program by their names alone. Node would ask the file system for each of some 800 whether
// it is there, for its real path and for the package it belongs to, which was a sixth of the time of a start.
import { registerHooks } from 'node:module';

const SOURCES = new URL('..', import.meta.url).href;

registerHooks({
  resolve(name, context, next) {
    const { parentURL = '' } = context;
    if (!name.startsWith('.') || !name.endsWith('.ts') || !parentURL.startsWith(SOURCES)) return next(name, context);
    return { url: new URL(name, parentURL).href, format: 'module-typescript', shortCircuit: true };
  },
});
