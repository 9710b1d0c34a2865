// The written form of an API key: svc_live_<keyId>_<secret>, with a checksum that refuses garbage without the database.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'svc_live_';
/** 62^12, about 71 bits: ids are drawn at random and never collide in practice; the unique index guards the rest. */
const KEY_ID_LENGTH = 12;
/** 62^32, about 190 bits. */
const SECRET_LENGTH = 32;
/** 62^6 exceeds 2^32, so six digits hold any CRC-32. */
const CHECKSUM_LENGTH = 6;
const FORM = /^svc_live_([0-9A-Za-z]{12})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

export interface ParsedApiKey {
  readonly keyId: string;
  /** The secret with its checksum, which is what is hashed. */
  readonly secret: string;
}

type GeneratedApiKey = ParsedApiKey & {
  /** The whole key, shown once. */
  readonly apiKey: string;
};

export function generateApiKey(): GeneratedApiKey {
  const keyId = randomBase62(KEY_ID_LENGTH);
  const body = randomBase62(SECRET_LENGTH);
  const secret = body + checksum(`${PREFIX}${keyId}_${body}`);
  return { keyId, secret, apiKey: `${PREFIX}${keyId}_${secret}` };
}

/** The public part, which lists show. */
export function keyPrefix(keyId: string): string {
  return PREFIX + keyId;
}

/** The parts of a key; null when the text is not one of our keys, or a typing error has broken its checksum. */
export function parseApiKey(text: string): ParsedApiKey | null {
  const match = FORM.exec(text);
  if (match === null) return null;
  const [, keyId, body, sum] = match;
  return checksum(`${PREFIX}${keyId}_${body}`) === sum ? { keyId, secret: body + sum } : null;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = ALPHABET[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/**
 * Bytes from 248 on are drawn again: 248 is the largest multiple of 62 in a byte, and a remainder would favor digits.
 */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}
