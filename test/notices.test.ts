// LICENSE and THIRD-PARTY-NOTICES: what they state is what package.json, the lock file, node_modules and data/ state.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOTICES, noticesText, productionPackages } from '../scripts/notices.ts';
import { ROOT } from '../src/config.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const notices = readFileSync(NOTICES, 'utf8');

/** The version of the repaired copy in vendor/. */
const { version: OUR_POSTGRES } = JSON.parse(read('vendor/postgres/package.json')) as { version: string };

describe('LICENSE', () => {
  it('is the license that package.json names', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({ license: 'MIT' });
    expect(read('LICENSE')).toMatch(/^MIT License\n\nCopyright \(c\) \d{4} Candlepool contributors\n/);
  });
});

describe('THIRD-PARTY-NOTICES', () => {
  it('is what scripts/notices.ts writes', () => {
    expect(notices === noticesText(), 'THIRD-PARTY-NOTICES is out of date; run: npm run notices').toBe(true);
  });

  it('does not depend on which optional packages the platform installs', () => {
    const elsewhere = (path: string) => existsSync(join(ROOT, path)) && !/linux|windows|darwin/.test(path);
    expect(productionPackages().filter(({ path }) => elsewhere(path)).length).toBeGreaterThan(100);
    expect(noticesText(elsewhere) === notices).toBe(true);
  });

  it('names every direct production dependency, including those of other platforms', () => {
    const { dependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
      string,
      Record<string, string>
    >;
    const direct = Object.entries({ ...dependencies, ...optionalDependencies });
    expect(direct.length).toBeGreaterThan(25);
    const shipped = direct.map(([name, version]) => [name, version.replace('file:vendor/postgres', OUR_POSTGRES)]);
    expect(shipped.filter(([name, version]) => !notices.includes(`\n${name} ${version} (`))).toEqual([]);
  });

  it('omits what only development needs', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
    const names = new Set(productionPackages().map(({ path }) => path));
    // Type packages may also be dependencies of what runs.
    const tools = Object.keys(devDependencies).filter((name) => !name.startsWith('@types/'));
    expect(tools.filter((name) => names.has(`node_modules/${name}`))).toEqual([]);
  });

  it('holds the license of every source of the market data', () => {
    const series = JSON.parse(read('data/series.json')) as { source: { package: string } }[];
    for (const name of new Set(series.map(({ source }) => source.package))) expect(notices).toContain(name);
    const holders = ['Mohammad Amin Haghpanah', 'Kevin Sheppard', 'Bokeh Contributors'];
    expect(holders.filter((holder) => !notices.includes(holder))).toEqual([]);
  });
});
