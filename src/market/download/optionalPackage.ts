// Optional packages: libraries that only downloads use, loaded when they are used and named when they are absent.
import { ROOT } from '../../config.ts';
import { refuse } from '../import/importError.ts';

/** Stands in for the `import` of a package, for tests. */
export type LoadPackage = (name: string) => Promise<unknown>;

const importPackage: LoadPackage = (name) => import(name);

/**
 * The module of a package that is not installed with Candlepool.
 * @throws MarketDataError PACKAGE_MISSING
 */
export async function loadOptional(name: string, what: string, load: LoadPackage = importPackage): Promise<unknown> {
  try {
    return await load(name);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(name)) throw error;
    refuse(
      'PACKAGE_MISSING',
      `${what} needs the package ${name}, which is optional and not installed. Install it, and run the command ` +
        `again: npm install --no-save --prefix ${JSON.stringify(ROOT)} ${name}`,
    );
  }
}
