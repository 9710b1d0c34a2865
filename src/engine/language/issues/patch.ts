// The steps of a repair: RFC 6902 JSON Patch operations on the request body.
import { pointerTo } from '../pointer.ts';

/** One step of an RFC 6902 patch of the request body. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly path: string };

/** Moves a member of the object at `pointer` to a place below that object. */
export const moveMember = (pointer: string, name: string, ...to: readonly (string | number)[]): PatchOperation => ({
  op: 'move',
  from: pointerTo(pointer, name),
  path: pointerTo(pointer, ...to),
});
export const addMember = (pointer: string, name: string, value: unknown): PatchOperation => ({
  op: 'add',
  path: pointerTo(pointer, name),
  value,
});
export const replaceMember = (pointer: string, name: string, value: unknown): PatchOperation => ({
  op: 'replace',
  path: pointerTo(pointer, name),
  value,
});
export const removeMember = (pointer: string, name: string): PatchOperation => ({
  op: 'remove',
  path: pointerTo(pointer, name),
});
