// The attack on labels: the longest ones, changed and searched for without pause, archived and deleted in turn.
import { astOf, CONFIG, condition, readyVersion, type Attack } from './attack.ts';

const BACKTESTS = '/public/v1/backtests';
const LONGEST = {
  name: 'n'.repeat(200),
  tags: Array.from({ length: 20 }, (_, at) => `${at}`.padEnd(40, 'é')),
  note: '📈'.repeat(2_000),
};
const tags = LONGEST.tags.map((tag) => `tag=${encodeURIComponent(tag)}`).join('&');
const where = Array.from({ length: 20 }, (_, at) => `sharpeRatio>-${at}e9`).join();

export const LABEL_ATTACKS: readonly Attack[] = [
  {
    name: 'the longest labels, changed and searched for without pause',
    parallel: 4,
    prepare: async (send, { free }) => {
      const { key } = free;
      const strategyVersionId = await readyVersion(send, key, astOf([condition(11)]));
      const item = { strategyVersionId, config: CONFIG, ...LONGEST };
      const { text } = await send(`${BACKTESTS}/batch`, {
        key,
        body: { items: Array.from({ length: 10 }, () => item) },
      });
      const { data = [] } = JSON.parse(text) as { data?: { id?: string }[] };
      const path = `${BACKTESTS}/${data[0]?.id}`;
      const calls = [
        () => send(path, { key, method: 'PATCH', body: { ...LONGEST, archived: true } }),
        () => send(path, { key, method: 'PATCH', body: { note: null, archived: false } }),
        () => send(path, { key, method: 'PATCH', body: { tags: Array.from({ length: 5_000 }, (_, at) => `${at}`) } }),
        () => send(`${BACKTESTS}?limit=100&archived=all&${tags}`, { key }),
        () => send(`${BACKTESTS}?limit=100&search=${encodeURIComponent('📈'.repeat(50))}&columns=note,cagr`, { key }),
        () => send(`${BACKTESTS}?limit=100&sort=-cagr&format=csv&where=${encodeURIComponent(where)}`, { key }),
        () => send(`${BACKTESTS}?columns=${'x,'.repeat(900)}`, { key }),
        () => send(`${BACKTESTS}?where=${','.repeat(1_900)}`, { key }),
      ];
      let turn = 0;
      return () => calls[turn++ % calls.length]();
    },
  },
];
