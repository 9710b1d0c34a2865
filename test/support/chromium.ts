// Where browser tests find Chromium, and the flags that keep it from asking anything of the network.
import { existsSync } from 'node:fs';

/** Debian's package; .ci/run installs it. Undefined: not installed, and the tests are left out outside CI. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
export const isCi = process.env.CI === 'true';
