// The steps of a repair: RFC 6902 JSON Patch operations on the request body.

/** One step of an RFC 6902 patch of the request body. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly path: string };
