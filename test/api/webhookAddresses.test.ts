// The addresses that a webhook may have: public ones with TLS, unless the operator allows others.
import { describe, expect, it } from 'vitest';
import { urlFault } from '../../src/api/webhooks/webhookSchemas.ts';

describe('the address of a webhook', () => {
  it.each([
    'https://example.com/hook',
    'https://example.com:8443/a?b=c',
    'https://93.184.215.14/',
    'https://[2606:4700::1]/',
  ])('may be %s', (url) => expect(urlFault(url, false)).toBeNull());

  it.each([
    ['example.com', /whole address/],
    ['http://example.com/', /must begin with https:/],
    ['ftp://example.com/', /must begin with https:/],
    ['file:///etc/passwd', /must begin with https:/],
    ['https://user:secret@example.com/', /no user and password/],
    ['https://127.0.0.1/', /public address/],
    ['https://2130706433/', /public address/],
    ['https://localhost/', /public address/],
    ['https://db.internal/', /public address/],
    ['https://[::1]/', /public address/],
    ['https://[::ffff:10.0.0.1]/', /public address/],
    ['https://169.254.169.254/latest/meta-data', /public address/],
  ])('is refused when it is %s', (url, message) => {
    expect(urlFault(url, false)).toMatchObject({ path: '/url', message: expect.stringMatching(message) });
  });

  it('may be private or without TLS when the operator allows it', () => {
    for (const url of ['http://127.0.0.1:8080/', 'https://10.0.0.1/', 'http://receiver.internal/hook'])
      expect(urlFault(url, true), url).toBeNull();
    expect(urlFault('ftp://10.0.0.1/', true)).not.toBeNull();
  });
});
