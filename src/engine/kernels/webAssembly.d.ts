// The part of WebAssembly's interface that the kernels use; TypeScript declares it with the browser's, which we leave out.
declare namespace WebAssembly {
  class Memory<Buffer extends ArrayBufferLike = ArrayBuffer> {
    constructor(descriptor: { readonly initial: number; readonly maximum?: number; readonly shared?: boolean });
    readonly buffer: Buffer;
    grow(pages: number): number;
  }
  type Module = object;
  const Module: new (bytes: Uint8Array) => Module;
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, Memory<ArrayBufferLike>>>>>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
}
