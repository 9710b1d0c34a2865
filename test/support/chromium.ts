// Where browser tests find Chromium, the flags that keep it from asking anything of the network, and the screens on
// which they open a page.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { isCi } from './environment.ts';

/** Debian's package; .ci/run installs it. Undefined: not installed. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
/** Whether browser tests run; without Chromium they are left out, except in CI, where they then fail. */
export const canBrowse = CHROMIUM !== undefined || isCi;
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const SCREENS = {
  'a desktop': { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  'a phone': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  'a desktop in the dark': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  'a phone in the dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
} as const;
export type Screen = keyof typeof SCREENS;

/** Opens a self-contained page once it is drawn. `faults` collects its errors and the requests that leave the file. */
export async function openPage(
  browser: Browser,
  screen: Screen,
  path: string,
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage(SCREENS[screen]);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('request', (request) => request.url().startsWith('file:') || faults.push(request.url()));
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector('body[data-ready=yes]', { timeout: 120_000 });
  return { page, faults };
}
