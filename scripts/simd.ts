// Builds src/engine/kernels/simd/simd.wat into wasm.ts beside it: `npm run simd`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import wabt from 'wabt';

const FOLDER = join(import.meta.dirname, '..', 'src', 'engine', 'kernels', 'simd');
export const SIMD_WASM_FILE = join(FOLDER, 'wasm.ts');

/** The content of wasm.ts; a test checks that the file equals it. */
export async function simdWasm(): Promise<string> {
  const tools = await wabt();
  const module = tools.parseWat('simd.wat', readFileSync(join(FOLDER, 'simd.wat'), 'utf8'), { simd: true });
  module.validate();
  const bytes = Buffer.from(module.toBinary({}).buffer);
  const lines = bytes.toString('base64').match(/.{1,110}/g)!;
  return `// Generated from simd.wat by \`npm run simd\`: its ${bytes.length} bytes in base64.
export const SIMD_WASM = \`
${lines.join('\n')}
\`;
`;
}

if (import.meta.main) writeFileSync(SIMD_WASM_FILE, await simdWasm());
