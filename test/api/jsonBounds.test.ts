// JSON bounds: what is counted in the bytes of a body, and where an excess is reported.
import { describe, expect, it } from 'vitest';
import { BODY_BOUNDS, exceededBound, type JsonBounds } from '../../src/api/http/jsonBounds.ts';

const BOUNDS: JsonBounds = { members: 3, containersOfList: 3, containers: 10, values: 20, depth: 5, nameBytes: 8 };
const exceeded = (text: string, bounds: Partial<JsonBounds> = {}) =>
  exceededBound(Buffer.from(text), { ...BOUNDS, ...bounds });

describe('a body within its bounds', () => {
  it.each([
    '',
    'null',
    '"[[[[[[[[{{{{,,,,,,,,,,,,,,,,,,,,,,,"',
    '{"a":1,"b":2,"c":3}',
    '{"a\\"b:":1,"\\\\":{"d":[":",",","{"]}}',
    '[[],[],[],1,2,3,4,5,6,7,8,9,10,11,12]',
    '[{"a":1,"b":2,"c":3},{"a":1,"b":2,"c":3}]',
    '[[[[[]]]]]',
    '{"12345678":1}',
    // Not valid JSON: the parser says so.
    ']]]}}}{',
    '{"a"',
    '"abc\\',
    ':::::',
  ])('has no excess: %s', (text) => {
    expect(exceeded(text)).toBeNull();
  });
});

describe('a body beyond a bound', () => {
  it.each([
    ['{"x":[0,{"a":1,"b":2,"c":3,"d":4}]}', '/x/1', 'This object has more than 3 members'],
    ['{"x":{"a":1,"a":1,"a":1,"a":1}}', '/x', 'This object has more than 3 members'],
    ['[1,[[],[],[],[]]]', '/1', 'This list holds more than 3 objects and lists'],
    ['{"a/b":{"~":{"123456789":1}}}', '/a~1b/~0', 'The name of a member of this object has 9 bytes; at most 8'],
    [String.raw`{"\u0061\u0062":1}`, '', 'The name of a member of this object has 12 bytes; at most 8'],
    ['{"a":[[[[[]]]]]}', '', 'The body nests objects and lists more than 5 deep.'],
    [`[${'1,'.repeat(30)}1]`, '', 'The body holds more than 20 values.'],
  ])('is refused with the place of it: %s', (text, path, message) => {
    expect(exceeded(text)).toMatchObject({ code: 'TOO_MANY_VALUES', path });
    expect(exceeded(text)!.message.startsWith(message)).toBe(true);
  });

  it('is refused for the number of its objects and lists in all', () => {
    const lists = '[[[],[]],[[],[]],[[],[],[]]]';
    expect(exceeded(lists, { containers: 11 })).toBeNull();
    expect(exceeded(lists)?.message).toBe('The body holds more than 10 objects and lists. Send less at a time.');
  });

  it('is found with as few bytes read as it takes', () => {
    const endless = new Proxy(Buffer.from('['.repeat(1_000)), {
      get: (bytes, name) => {
        if (Number(name) > BODY_BOUNDS.depth) throw new Error(`Byte ${String(name)} was read.`);
        return Reflect.get(bytes, name, bytes) as unknown;
      },
    });
    expect(exceededBound(endless)?.message).toContain('more than 256 deep');
  });

  it('is named by a pointer of at most 32 names, each cut to 60 characters', () => {
    const name = 'n'.repeat(100);
    const deep = `${`{"${name}":`.repeat(40)}{"a":1,"b":1,"c":1,"d":1}${'}'.repeat(40)}`;
    const path = exceeded(deep, { depth: 100, containers: 100, values: 100, nameBytes: 200 })?.path;
    expect(path).toBe(`/${'n'.repeat(60)}`.repeat(32));
  });
});
