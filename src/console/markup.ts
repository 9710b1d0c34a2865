// Markup: templates that become elements, without a compiler. Every inserted text is escaped by the browser itself.
import htm from 'htm';
import { h, type ComponentChildren } from 'preact';

export type Children = ComponentChildren;
export const html = htm.bind(h);
