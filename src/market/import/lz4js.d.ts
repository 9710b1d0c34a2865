// The functions of lz4js that are used; the package brings no types.
declare module 'lz4js' {
  /** Decompresses an LZ4 frame. */
  export function decompress(source: Uint8Array, maxSize?: number): Uint8Array;
  /** The most bytes that a frame decompresses to, by the headers of its blocks. */
  export function decompressBound(source: Uint8Array): number;
}
