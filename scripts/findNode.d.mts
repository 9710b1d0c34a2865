/** The types of findNode.mjs, which is JavaScript because an older Node reads it. */
interface System {
  readonly version: string;
  readonly execPath: string;
  readonly platform: string;
  readonly arch: string;
}
export const NODE_PACKAGES: Readonly<Record<string, string>>;
export function findNode(
  system: System,
  installed: (path: string) => string | null,
): { readonly node: string; readonly fault?: undefined } | { readonly node?: undefined; readonly fault: string };
export function startFault(
  node: string,
  error: { readonly code?: string; readonly message: string },
  system: Pick<System, 'platform' | 'execPath'>,
): string;
