// A process of its own that uses the embedded Postgres: prints {isStarter, ms}, and leaves when its stdin closes.
import { pino } from 'pino';
import { startEmbedded } from '../../src/db/embedded.ts';
import { connect } from '../../src/db/connect.ts';

const [folder, kind] = process.argv.slice(2);
const begun = performance.now();
const server = await startEmbedded(folder, kind === 'watcher' ? { log: pino({ level: 'silent' }) } : {});
const sql = connect(server.url, { max: 1 });
await sql`select 1`;
await sql.end();
console.log(JSON.stringify({ isStarter: server.isStarter, ms: performance.now() - begun }));
process.stdin.resume();
process.stdin.on('end', () => void server[Symbol.asyncDispose]().then(() => process.exit(0)));
