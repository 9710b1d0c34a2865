// JSON in pieces: texts that are kept, texts of one run, and numbers, in the order in which they were added.
import { expect, it } from 'vitest';
import { constantJson, JsonWriter } from '../../../src/engine/report/jsonWriter.ts';
import { bothWays } from '../fast/bothWays.ts';

const KEPT = constantJson('"kept":');
const UMLAUT = constantJson('"–é金":');
const json = new JsonWriter();

const written = (): string => Buffer.from(json.bytes()).toString();

bothWays('JSON in pieces', () => {
  it('writes kept texts, others, and numbers in their order, one text after the other', () => {
    for (const name of ['a', 'é–金', 'x'.repeat(10_000)]) {
      const own = json.begin().text(name);
      json.add(own).number(KEPT, 1.5).number(own, null).addText('–').add(UMLAUT);
      json.number(own, -2).number(UMLAUT, Infinity);
      expect(written()).toBe(`${name}"kept":1.5${name}null–"–é金":${name}-2"–é金":null`);
    }
  });

  it('writes thousands of pieces, and few afterwards', () => {
    const names = Array.from({ length: 20_000 }, (_, at) => `,"name ${at}":`);
    json.begin();
    for (const [at, name] of names.entries()) json.number(json.text(name), at / 8);
    expect(written()).toBe(names.map((name, at) => name + at / 8).join(''));
    json.add(KEPT);
    expect(written()).toBe('"kept":');
    expect(written()).toBe('');
  });

  it('forgets what was added before it begins', () => {
    json.number(KEPT, 7).addText('left by an error');
    json.begin().number(KEPT, 8);
    expect(written()).toBe('"kept":8');
  });

  it('leaves what it wrote as it was', () => {
    const texts = Array.from({ length: 40 }, (_, at) => String(at).repeat(50 * at));
    const kept = texts.map((text) => json.begin().addText(text).bytes());
    expect(kept.map((bytes) => Buffer.from(bytes).toString())).toEqual(texts);
  });
});
