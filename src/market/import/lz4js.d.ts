// The one function of lz4js that is used; the package brings no types.
declare module 'lz4js' {
  /** Decompresses an LZ4 frame. */
  export function decompress(source: Uint8Array, maxSize?: number): Uint8Array;
}
