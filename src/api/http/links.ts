// Links: every address in an answer is made here. With PUBLIC_URL it is absolute, whatever host and path a proxy serves
// the API under. Without it, a link is a path, which clients resolve against the address they called. The Host and
// X-Forwarded-* headers of a request are never part of a link, so no client can put a foreign address into an answer
// that is kept or cached.
import type { Config } from '../../config.ts';

/** The part of the configuration that links are made from. */
export type PublicAddress = Pick<Config, 'publicUrl'>;

/** @param path from the root of the service, with its query */
export const linkTo = ({ publicUrl = '' }: PublicAddress, path: string): string => publicUrl + path;

/** The links of an object by their names. */
export const linksTo = (address: PublicAddress, paths: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, linkTo(address, path)]));
