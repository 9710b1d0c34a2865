// Structure: every fault of a payload's form against the grammar, in one pass, each with its place and its repair.
import { isParamRef } from './canonical.ts';
import type { IssueCode, IssueLog, PatchOperation } from './issues.ts';
import { nearestName, suggestionFor, type Nearest } from './nearest.ts';
import { pointerTo } from './pointer.ts';
import {
  EXPRESSION_SHAPES,
  numberFault,
  typeOfKind,
  type ExpressionType,
  type Field,
  type NumberShape,
  type ObjectShape,
  type Shape,
} from './shapes.ts';
import { synonymIn } from './synonyms.ts';
import { expected, isMembers, numericText, shown } from './wording.ts';

type Members = Readonly<Record<string, unknown>>;
type Kinds = Shape & { readonly type: 'kinds' };
type Choice = Shape & { readonly type: 'choice' };

/** A parameter named where a number stands, to be looked at once the declarations are known. */
export interface ParamUse {
  readonly name: string;
  readonly pointer: string;
  readonly shape: (NumberShape & { readonly code?: IssueCode }) | null;
}

/** What the missing of some members is called. */
const MISSING_CODES: Readonly<Record<string, IssueCode>> = { entry: 'ENTRY_MISSING', trigger: 'TRIGGER_MISSING' };
/** Members whose empty form says nothing, so that adding it is certain. */
const EMPTY_FORMS: Readonly<Record<string, unknown>> = { args: {} };

export class Structure {
  readonly #log: IssueLog;
  /** Objects with a fault of their own; what they mean is not judged any further. */
  readonly faulty = new Set<object>();
  readonly paramUses: ParamUse[] = [];
  /** The patches of all faults that have one. */
  readonly repairs: PatchOperation[] = [];

  constructor(log: IssueLog) {
    this.#log = log;
  }

  /** Logs the faults of `value` and everything below it; true when its own form is right (expressions below it answer for themselves). */
  check(shape: Shape, value: unknown, pointer: string, name = ''): boolean {
    switch (shape.type) {
      case 'object':
        return this.#isObject(value, pointer) && this.#object(shape, value, pointer);
      case 'slot':
        return this.#expression(shape.of, value, pointer);
      case 'reference':
        return this.#reference(shape.of, value, pointer);
      case 'kinds':
        return this.#isObject(value, pointer) && this.#kinds(shape, value, pointer);
      case 'either':
        return this.#either(shape.options, value, pointer, name);
      case 'array':
        return this.#array(shape, value, pointer, name);
      case 'record':
        return this.#record(shape.item, value, pointer);
      case 'choice':
        return this.#choice(shape, value, pointer, name);
      case 'number':
        return this.#number(shape, value, pointer);
      case 'string':
        return this.#string(shape, value, pointer);
      case 'boolean':
        return typeof value === 'boolean' || this.#mismatch(pointer, 'true or false', value);
      case 'anything':
        return true;
    }
  }

  #fault(
    code: IssueCode,
    pointer: string,
    message: string,
    suggestion?: string,
    patch?: readonly PatchOperation[],
  ): false {
    this.#log.add(code, pointer, { message, suggestion, patch });
    if (patch !== undefined) this.repairs.push(...patch);
    return false;
  }

  #mismatch(pointer: string, wanted: string, value: unknown, repair?: { readonly value: unknown }): false {
    const patch = repair === undefined ? undefined : replaceBy(pointer, repair.value);
    return this.#fault('TYPE_MISMATCH', pointer, `this must be ${wanted}, not ${shown(value)}`, undefined, patch);
  }

  #isObject(value: unknown, pointer: string): value is Members {
    return isMembers(value) || this.#mismatch(pointer, 'an object', value);
  }

  #object(shape: ObjectShape, value: Members, pointer: string): boolean {
    const unknown = Object.keys(value).filter((name) => value[name] !== undefined && !shape.fields.has(name));
    const renamed = this.#renamed(shape, value, unknown);
    let isSound = unknown.length === 0;
    for (const field of shape.fields.values()) {
      const { name } = field;
      const written = value[name] !== undefined && Object.hasOwn(value, name) ? name : renamed.get(name)?.written;
      if (written === undefined) {
        if (field.isRequired) isSound = this.#missing(field, pointer);
      } else if (value[written] === null && !field.isRequired) {
        const path = pointerTo(pointer, written);
        isSound = this.#fault('TYPE_MISMATCH', path, `${name} is null`, 'leave it out', [{ op: 'remove', path }]);
      } else if (!this.check(field.shape, value[written], pointerTo(pointer, written), name)) isSound = false;
    }
    // After what is below, so that patches in order find what they move.
    for (const name of unknown) this.#unknownField(name, shape, value, pointer, renamed);
    if (!isSound) this.faulty.add(value);
    return isSound;
  }

  /** Grammar names that a misspelt member certainly meant, each taken once. */
  #renamed(shape: ObjectShape, value: Members, unknown: readonly string[]): Map<string, { written: string }> {
    const renamed = new Map<string, { written: string }>();
    for (const written of this.#log.keepsErrors ? unknown.slice(0, MAX_RENAMES) : []) {
      const free = [...shape.fields.keys()].filter((name) => value[name] === undefined && !renamed.has(name));
      const nearest = nearestName(written, free);
      if (nearest?.isCertain === true) renamed.set(nearest.name, { written });
    }
    return renamed;
  }

  #unknownField(
    name: string,
    shape: ObjectShape,
    value: Members,
    pointer: string,
    renamed: ReadonlyMap<string, { written: string }>,
  ): void {
    const from = pointerTo(pointer, name);
    const names = [...shape.fields.keys()];
    const meant = [...renamed].find(([, { written }]) => written === name)?.[0];
    const nearest = meant === undefined ? this.#nearest(name, names) : { name: meant, isCertain: true };
    const free = names.filter((one) => value[one] === undefined);
    const patch = meant === undefined ? undefined : [{ op: 'move', from, path: pointerTo(pointer, meant) } as const];
    const message = `there is no member ${shown(name)} here`;
    this.#fault('UNKNOWN_FIELD', from, message, suggestionFor(nearest, free), patch);
  }

  /** Not looked for once the log only counts: a hostile payload misspells thousands. */
  #nearest(word: string, words: readonly string[]): Nearest | undefined {
    return this.#log.keepsErrors ? nearestName(word, words) : undefined;
  }

  #missing({ name, shape }: Field, pointer: string): false {
    const path = pointerTo(pointer, name);
    const only = shape.type === 'choice' && shape.values.length === 1 ? shape.values[0] : EMPTY_FORMS[name];
    const code = MISSING_CODES[name] ?? 'MISSING_FIELD';
    const patch = only === undefined ? undefined : [{ op: 'add', path, value: only } as const];
    return this.#fault(code, path, `${name} is missing`, `give ${expected(shape)}`, patch);
  }

  /** An expression of the AST. True when it may stand there; its own faults are its own. */
  #expression(of: ExpressionType, value: unknown, pointer: string): boolean {
    const wanted = of === 'value' ? 'a value expression' : 'a condition';
    if (!isMembers(value)) {
      const isNumber = of === 'value' && typeof value === 'number' && Number.isFinite(value);
      return this.#mismatch(pointer, wanted, value, isNumber ? { value: { kind: 'const', value } } : undefined);
    }
    if (
      of === 'value' &&
      value.kind === undefined &&
      typeof value.param === 'string' &&
      Object.keys(value).length === 1
    ) {
      return this.#mismatch(pointer, wanted, value, { value: { kind: 'param', name: value.param } });
    }
    const { kind } = value;
    const type = typeOfKind(kind);
    if (type === undefined) {
      const guess = this.#tag({ type: 'kinds', key: 'kind', options: EXPRESSION_SHAPES[of] }, value, pointer);
      if (guess !== undefined) this.#object(guess, value, pointer);
      this.faulty.add(value);
      return false;
    }
    this.#object(EXPRESSION_SHAPES[type].get(kind as string)!, value, pointer);
    if (type === of) return true;
    const is = type === 'value' ? 'a value' : 'a condition';
    const way = of === 'condition' ? 'compare it with something' : 'use `if` to turn a condition into a number';
    return this.#fault('TYPE_MISMATCH', pointer, `this must be ${wanted}, and ${shown(kind)} is ${is}`, way);
  }

  #reference(of: ExpressionType, value: unknown, pointer: string): boolean {
    const wanted = of === 'value' ? 'a reference {ref} or a number {const}' : 'a reference {ref}';
    if (typeof value === 'string') return this.#mismatch(pointer, wanted, value, { value: { ref: value } });
    if (typeof value === 'number' && of === 'value' && Number.isFinite(value)) {
      return this.#mismatch(pointer, wanted, value, { value: { const: value } });
    }
    if (!isMembers(value)) return this.#mismatch(pointer, wanted, value);
    const names = Object.keys(value);
    if (typeof value.kind === 'string') {
      return this.#fault(
        'TYPE_MISMATCH',
        pointer,
        `this must be ${wanted}`,
        'put the expression into `nodes` and refer to its id',
      );
    }
    if (names.length !== 1) return this.#mismatch(pointer, wanted, value);
    const at = pointerTo(pointer, names[0]);
    if (names[0] === 'ref') return typeof value.ref === 'string' || this.#mismatch(at, 'a node id', value.ref);
    if (of === 'value' && names[0] === 'const') return this.check(ANY_NUMBER, value.const, at);
    if (of === 'value' && names[0] === 'param') return this.#paramRef(value, null, pointer);
    const patch =
      nearestName(names[0], ['ref'])?.isCertain === true
        ? [{ op: 'move', from: at, path: pointerTo(pointer, 'ref') } as const]
        : undefined;
    return this.#fault('UNKNOWN_FIELD', at, `this must be ${wanted}, not ${shown(value)}`, undefined, patch);
  }

  #kinds(shape: Kinds, value: Members, pointer: string): boolean {
    const tag = value[shape.key];
    const option = typeof tag === 'string' ? shape.options.get(tag) : undefined;
    if (option !== undefined) return this.#object(option, value, pointer);
    const guess = this.#tag(shape, value, pointer);
    if (guess !== undefined) this.#object(guess, value, pointer);
    this.faulty.add(value);
    return false;
  }

  /** Says what is wrong with the member that tells kinds apart, and gives the shape that was meant, where that is clear. */
  #tag(shape: Kinds, value: Members, pointer: string): ObjectShape | undefined {
    const { key, options } = shape;
    const tag = value[key];
    const path = pointerTo(pointer, key);
    const names = [...options.keys()];
    if (tag === undefined) {
      const fits = (this.#log.keepsErrors ? names : []).filter((name) => fitsShape(options.get(name)!, value, key));
      const patch = fits.length === 1 ? [{ op: 'add', path, value: fits[0] } as const] : undefined;
      this.#fault(
        'MISSING_FIELD',
        path,
        `${key} is missing`,
        suggestionFor(patch && { name: fits[0], isCertain: true }, names),
        patch,
      );
      return fits.length === 1 ? withAnyTag(options.get(fits[0])!, key) : undefined;
    }
    if (typeof tag !== 'string') {
      this.#mismatch(path, 'text', tag);
      return undefined;
    }
    const nearest = this.#nearest(tag, names);
    const isCertain = nearest?.isCertain === true;
    const patch = isCertain ? replaceBy(path, nearest.name) : undefined;
    const code = key === 'kind' ? 'UNKNOWN_NODE_KIND' : (shape.code ?? 'OUT_OF_RANGE');
    this.#fault(code, path, `there is no ${key} ${shown(tag)} here`, suggestionFor(nearest, names), patch);
    return isCertain ? withAnyTag(options.get(nearest.name)!, key) : undefined;
  }

  #either(options: readonly Shape[], value: unknown, pointer: string, name: string): boolean {
    const find = (type: Shape['type']): Shape | undefined => options.find((option) => option.type === type);
    const number = find('number') as ParamUse['shape'] | undefined;
    if (isParamRef(value) && isParamShape(find('object'))) {
      // Where text may stand as well, the argument's own definition says what the parameter must be.
      return this.#paramRef(value, find('string') === undefined ? (number ?? null) : null, pointer);
    }
    const wanted =
      typeof value === 'object'
        ? Array.isArray(value)
          ? 'array'
          : value === null
            ? undefined
            : 'object'
        : typeof value;
    const option = options.find(({ type }) => type === wanted);
    if (option !== undefined) return this.check(option, value, pointer, name);
    const numeric = number === undefined || number === null ? undefined : numericText(value);
    const isRepair = numeric !== undefined && numberFault(number!, numeric) === undefined;
    return this.#mismatch(
      pointer,
      options.map(expected).join(' or '),
      value,
      isRepair ? { value: numeric } : undefined,
    );
  }

  #paramRef(value: Members, shape: ParamUse['shape'], pointer: string): boolean {
    const isRight = Object.keys(value).length === 1 && typeof value.param === 'string' && value.param !== '';
    if (!isRight) return this.#mismatch(pointer, 'a parameter {"param": "<name>"}', value);
    this.paramUses.push({ name: value.param as string, pointer, shape });
    return true;
  }

  #array(shape: Shape & { type: 'array' }, value: unknown, pointer: string, name: string): boolean {
    if (!Array.isArray(value)) return this.#mismatch(pointer, 'a list', value);
    if (value.length < shape.min) {
      const code = value.length === 0 ? (MISSING_CODES[name] ?? 'OUT_OF_RANGE') : (shape.code ?? 'OUT_OF_RANGE');
      return this.#fault(code, pointer, `${name} needs at least ${shape.min}, and has ${value.length}`);
    }
    let isSound = true;
    for (const [i, item] of value.entries()) {
      if (!this.check(shape.item, item, pointerTo(pointer, i), name)) isSound = false;
    }
    if (value.length <= shape.max) return isSound;
    return this.#fault(
      shape.code ?? 'OUT_OF_RANGE',
      pointer,
      `${name} takes at most ${shape.max}, and has ${value.length}`,
    );
  }

  #record(item: Shape, value: unknown, pointer: string): boolean {
    if (!this.#isObject(value, pointer)) return false;
    let isSound = true;
    for (const name of Object.keys(value)) {
      if (value[name] !== undefined && !this.check(item, value[name], pointerTo(pointer, name), name)) isSound = false;
    }
    return isSound;
  }

  #choice(shape: Choice, value: unknown, pointer: string, name: string): boolean {
    const { values, code, isLiteral } = shape;
    if (values.includes(value as string)) return true;
    if (isLiteral && name === 'kind') {
      const patch = replaceBy(pointer, values[0]);
      return this.#fault(
        'UNKNOWN_NODE_KIND',
        pointer,
        `kind must be ${shown(values[0])} here, not ${shown(value)}`,
        undefined,
        patch,
      );
    }
    const sameNumber = values.find((one) => typeof one === 'number' && numericText(value) === one);
    if (isLiteral && typeof values[0] === 'number') {
      const patch = sameNumber === undefined ? undefined : replaceBy(pointer, sameNumber);
      return this.#fault(
        code ?? 'OUT_OF_RANGE',
        pointer,
        `${name} must be ${values[0]}, not ${shown(value)}`,
        undefined,
        patch,
      );
    }
    if (typeof value !== 'string')
      return this.#fault(
        isLiteral && code !== undefined ? code : 'TYPE_MISMATCH',
        pointer,
        `${name} must be ${expected(shape)}, not ${shown(value)}`,
      );
    const words = values as readonly string[];
    const synonym = synonymIn(value, words);
    const nearest = synonym === undefined ? this.#nearest(value, words) : { name: synonym, isCertain: true };
    const patch = nearest?.isCertain === true ? replaceBy(pointer, nearest.name) : undefined;
    const message = `${name} has no choice ${shown(value)}`;
    return this.#fault(code ?? 'OUT_OF_RANGE', pointer, message, suggestionFor(nearest, words), patch);
  }

  #number(shape: NumberShape & { code?: IssueCode | undefined }, value: unknown, pointer: string): boolean {
    if (typeof value !== 'number') {
      const numeric = numericText(value);
      const isRepair = numeric !== undefined && numberFault(shape, numeric) === undefined;
      return this.#mismatch(pointer, expected(shape), value, isRepair ? { value: numeric } : undefined);
    }
    const fault = numberFault(shape, value);
    if (fault === undefined) return true;
    const patch = fault.nearest === undefined ? undefined : replaceBy(pointer, fault.nearest);
    const suggestion = fault.nearest === undefined ? `give ${expected(shape)}` : `use ${fault.nearest}`;
    return this.#fault(shape.code ?? 'OUT_OF_RANGE', pointer, `this ${fault.message}`, suggestion, patch);
  }

  #string(shape: Shape & { type: 'string' }, value: unknown, pointer: string): boolean {
    if (typeof value !== 'string') return this.#mismatch(pointer, 'text', value);
    if (value.length < shape.min)
      return this.#fault('OUT_OF_RANGE', pointer, `this must have at least ${shape.min} character`);
    if (value.length > shape.max)
      return this.#fault('OUT_OF_RANGE', pointer, `this must have at most ${shape.max} characters`);
    if (shape.pattern !== null && !shape.pattern.test(value)) {
      return this.#fault('OUT_OF_RANGE', pointer, `${shown(value)} does not fit`, shape.hint || undefined);
    }
    return true;
  }
}

const replaceBy = (path: string, value: unknown): PatchOperation[] => [{ op: 'replace', path, value }];

/** Misspelt members looked at in one object: more than the grammar has anywhere, and a hostile object can have a million. */
const MAX_RENAMES = 32;
const ANY_NUMBER: NumberShape = {
  type: 'number',
  isInteger: false,
  min: -Number.MAX_VALUE,
  max: Number.MAX_VALUE,
  isMinExclusive: false,
};

const isParamShape = (shape: Shape | undefined): boolean => shape?.type === 'object' && shape.fields.has('param');

/** The shape with the wrong tag taken as said: it has been reported already. */
function withAnyTag(shape: ObjectShape, key: string): ObjectShape {
  const fields = new Map(shape.fields);
  fields.set(key, { name: key, shape: { type: 'anything' }, isRequired: false });
  return { type: 'object', fields };
}

/** Whether an object without its tag could be of that kind: all it must have, nothing it may not, words among their choices. */
function fitsShape(shape: ObjectShape, value: Members, key: string): boolean {
  const isKnown = Object.keys(value).every((name) => shape.fields.has(name));
  return (
    isKnown &&
    [...shape.fields.values()].every(({ name, shape: field, isRequired }) => {
      if (name === key) return true;
      const member = value[name];
      if (member === undefined) return !isRequired;
      return field.type !== 'choice' || field.values.includes(member as string);
    })
  );
}
