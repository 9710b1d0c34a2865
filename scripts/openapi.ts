// The OpenAPI document on standard output, made from the routes without a database: npm run -s openapi > openapi.json
import { buildApp } from '../src/api/app.ts';
import { readConfig } from '../src/config.ts';
import { connect } from '../src/db/connect.ts';
import { createLog } from '../src/log.ts';
import { openShippedData } from '../src/market/shipped.ts';
import { SnapshotFiles } from '../src/market/snapshotFiles.ts';
import { SnapshotTable } from '../src/market/snapshotStorage.ts';
import { WorkspaceCatalogs } from '../src/market/workspaceCatalogs.ts';

const config = readConfig({ LOG_LEVEL: 'silent' });
/** Never connects: a connection opens with the first statement. */
const sql = connect('postgres://127.0.0.1:1/none');
const files = new SnapshotFiles(new SnapshotTable(sql));
const catalogs = new WorkspaceCatalogs(sql, await openShippedData(), files);
const app = await buildApp({ sql, shortReads: sql, config, log: createLog(config), catalogs });
process.stdout.write(`${JSON.stringify(app.swagger(), null, 1)}\n`);
await app.close();
await sql.end();
