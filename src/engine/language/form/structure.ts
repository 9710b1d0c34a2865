// Structure: every issue of a payload's form against the grammar, in one pass, each with its place and its repair.
import { IssueLog } from '../issues/issues.ts';
import { MAX_ROUNDS, repaired } from '../issues/repair.ts';
import type { PatchOperation } from '../issues/patch.ts';
import { nearestName } from '../issues/nearest.ts';
import { pointerTo } from '../pointer.ts';
import {
  ANY_NUMBER,
  EXPRESSION_SHAPES,
  expressionShapeOf,
  isParamRef,
  isParamShape,
  numberIssue,
  optionOf,
  typeInPlace,
  typeOfKind,
  type ExpressionType,
  type Field,
  type ObjectShape,
  type Shape,
} from '../grammar/shapes.ts';
import { adviceFor, OBJECT_ADVICE } from '../hints/examples.ts';
import { expected, jsonTypeOf, numericText } from '../issues/displayNames.ts';
import { mismatch, type Fault, type FindNearest } from './fault.ts';
import { certainRepair } from './certainRepairs.ts';
import { leafFault, type Leaf } from './leafFaults.ts';
import {
  misspelledMembers,
  missingMemberFault,
  nullMemberFault,
  ownerOfUnknown,
  tooFewItems,
  tooHighFault,
  tooManyItems,
  unknownMemberFault,
} from './memberFaults.ts';
import { expressionMeant, listedArguments, objectMeant } from './misplaced.ts';
import { kindAsOperator } from './kindAsOperator.ts';
import { ownNamesOf, type ParamUse } from './ownNames.ts';
import type { TextContext } from '../text/textMeaning.ts';
import { referenceFault } from './referenceFaults.ts';
import { relocatedMembers } from './relocated.ts';
import { timeFault } from './timeConditions.ts';
import { expressionFault, tagFault, typeFault, type Kinds } from './tags.ts';
import { unitMeant } from './units.ts';
import { isMembers, type Members } from '../grammar/payloadObjects.ts';

/** The check of one payload, or of a part of one. */
export class Structure {
  readonly #log: IssueLog;
  /** Objects with an error of their own; their meaning is not checked further. */
  readonly invalid = new Set<object>();
  readonly paramUses: ParamUse[] = [];
  /** The patches of all issues that have one. */
  readonly repairs: PatchOperation[] = [];

  readonly #names: TextContext;
  readonly #settles: boolean;

  /**
   * @param names what its texts may refer to
   * @param settles whether a repaired value is repaired below it as well, so that one patch is enough
   */
  constructor(log: IssueLog, names = ownNamesOf(), settles = true) {
    this.#log = log;
    this.#names = names;
    this.#settles = settles && names.nodes.size === 0;
  }

  /**
   * Reports the issues of `value` and everything below it. True when its own form is valid; child expressions are
   * checked by themselves.
   */
  check(shape: Shape, value: unknown, pointer: string, name = ''): boolean {
    const meant = this.#log.keepsErrors ? certainRepair({ shape, name, value, names: this.#names }) : undefined;
    if (meant !== undefined) {
      const repair = { value: this.#settled(shape, meant.value, name) };
      return this.#mismatch(pointer, expected(shape), value, repair, meant.advice ?? OBJECT_ADVICE[name]);
    }
    switch (shape.type) {
      case 'object':
        return this.#isObject(value, pointer, shape, name) && this.#object(shape, value, pointer);
      case 'slot':
        return this.#expression(typeInPlace(shape.of, value), value, pointer);
      case 'reference':
        return this.#reference(typeInPlace(shape.of, value), value, pointer);
      case 'kinds':
        return this.#isObject(value, pointer, shape, name) && this.#kinds(shape, value, pointer);
      case 'either':
        return this.#either(shape.options, value, pointer, name);
      case 'array':
        return this.#array(shape, value, pointer, name);
      case 'record':
        return this.#record(shape.item, value, pointer, name);
      case 'anything':
        return true;
      default:
        return this.#leaf(shape, value, pointer, name);
    }
  }

  #report(pointer: string, { code, message, suggestion, patch }: Fault): false {
    this.#log.add(code, pointer, { message, suggestion, patch });
    if (patch !== undefined) this.repairs.push(...patch);
    return false;
  }

  #mismatch(
    pointer: string,
    wanted: string,
    value: unknown,
    repair?: { readonly value: unknown },
    suggestion?: string,
  ): false {
    const fault = mismatch(pointer, wanted, value, repair);
    return this.#report(pointer, { ...fault, suggestion: suggestion ?? fault.suggestion });
  }

  /** The search for similar names; undefined once the log only counts, since a hostile payload misspells thousands. */
  get #findNearest(): FindNearest | undefined {
    return this.#log.keepsErrors ? nearestName : undefined;
  }

  /** The one item of a list that stands in place of that item, if the item is valid. */
  #onlyItem(shape: Shape, value: unknown, pointer: string): { readonly value: unknown } | undefined {
    if (!Array.isArray(value) || value.length !== 1 || Array.isArray(value[0])) return undefined;
    return this.#isClean(shape, value[0], pointerTo(pointer, 0)) ? { value: value[0] as unknown } : undefined;
  }

  /** Reports the issues of `value` as `check` does; true when there are none, in expressions below it either. */
  #isClean(shape: Shape, value: unknown, pointer: string, name?: string): boolean {
    const before = this.#log.errorCount;
    return this.check(shape, value, pointer, name) && this.#log.errorCount === before;
  }

  #isObject(value: unknown, pointer: string, shape?: ObjectShape | Kinds, name = ''): value is Members {
    if (isMembers(value)) return true;
    const item = shape === undefined ? undefined : this.#onlyItem(shape, value, pointer);
    const meant = item ?? (shape && objectMeant(shape, value));
    const advice = OBJECT_ADVICE[name] ?? (shape && adviceFor(name, shape));
    return this.#mismatch(pointer, 'an object', value, meant, meant === undefined ? advice : undefined);
  }

  #object(shape: ObjectShape, value: Members, pointer: string): boolean {
    const unknown = Object.keys(value).filter((name) => value[name] !== undefined && !shape.fields.has(name));
    const owner = ownerOfUnknown(shape, value, unknown);
    if (owner !== undefined) {
      this.invalid.add(value);
      return this.#report(pointerTo(pointer, owner.name), tooHighFault(owner, unknown, pointer));
    }
    const misspelled = misspelledMembers(shape, value, unknown, this.#findNearest);
    const relocated = relocatedMembers(shape, value, unknown, misspelled, pointer, this.#findNearest);
    let isValid = unknown.length === 0;
    for (const field of shape.fields.values()) {
      const { name } = field;
      const written = value[name] !== undefined && Object.hasOwn(value, name) ? name : misspelled.get(name);
      if (!this.#field(field, value, written, pointer)) isValid = false;
    }
    // Reported after the members' own issues, so that patches applied in order find what they move.
    for (const name of unknown) {
      const meant = [...misspelled].find(([, written]) => written === name)?.[0];
      const fault = relocated.get(name) ?? unknownMemberFault(name, meant, shape, value, pointer, this.#findNearest);
      this.#report(pointerTo(pointer, name), fault);
    }
    if (!isValid) this.invalid.add(value);
    return isValid;
  }

  /** @param written the name that the member has in the payload; undefined: it is absent */
  #field(field: Field, owner: Members, written: string | undefined, pointer: string): boolean {
    const { name, isNullable, unless } = field;
    const isRequired = field.isRequired && (unless === undefined || owner[unless] === undefined);
    if (written === undefined && !isRequired) return true;
    const path = pointerTo(pointer, written ?? name);
    if (written === undefined) return this.#report(path, missingMemberFault(field, path));
    if (owner[written] !== null) return this.#member(field, owner, written, path);
    if (isNullable) return true;
    const fault = isRequired
      ? { ...missingMemberFault(field, path), message: `${name} is null.` }
      : nullMemberFault(name, path);
    return this.#report(path, fault);
  }

  /** A member as written; a percent or amount in place of a number is read in the unit of its place. */
  #member({ name, shape }: Field, owner: Members, written: string, path: string): boolean {
    const value = owner[written];
    const meant = unitMeant(owner, name, value) ?? listedArguments(owner, name, value);
    if (meant === undefined) return this.check(shape, value, path, name);
    const repair = meant.value === undefined ? undefined : { value: meant.value };
    return this.#mismatch(path, expected(shape), value, repair, meant.advice);
  }

  /** An expression of the AST. True when it is of the right type for its place; its own issues count against itself. */
  #expression(of: ExpressionType, value: unknown, pointer: string): boolean {
    const wanted = of === 'value' ? 'a value expression' : 'a condition';
    if (!isMembers(value)) {
      const meant = expressionMeant(of, value, this.#names) ?? this.#onlyItem({ type: 'slot', of }, value, pointer);
      return this.#report(pointer, expressionFault(of, value, mismatch(pointer, wanted, value, meant), this.#names));
    }
    const { kind } = value;
    const type = typeOfKind(kind);
    const kinds: Kinds = { type: 'kinds', key: 'kind', options: EXPRESSION_SHAPES[of] };
    if (type === undefined || kindAsOperator(kinds.options, value, pointer)) return this.#tag(kinds, value, pointer);
    if (of === 'condition' && kind === 'time') {
      this.invalid.add(value);
      return this.#report(pointer, timeFault(value, pointer, this.#log.keepsErrors));
    }
    this.#object(expressionShapeOf(kind)!, value, pointer);
    if (type === of) return true;
    return this.#report(pointer, typeFault(of, wanted, kind));
  }

  #reference(of: ExpressionType, value: unknown, pointer: string): boolean {
    if (isMembers(value) && Object.keys(value).length === 1) {
      if (typeof value.ref === 'string') return true;
      if (of === 'value' && 'const' in value) return this.check(ANY_NUMBER, value.const, pointerTo(pointer, 'const'));
      if (of === 'value' && 'param' in value) return this.#paramRef(value, null, pointer);
    }
    const only = this.#onlyItem({ type: 'reference', of }, value, pointer);
    const { at, fault } = referenceFault(of, value, pointer, only, this.#names);
    return this.#report(at, fault);
  }

  #kinds(shape: Kinds, value: Members, pointer: string): boolean {
    const tag = value[shape.key];
    const option = typeof tag === 'string' ? shape.options.get(tag) : undefined;
    const isRight = option !== undefined && !kindAsOperator(shape.options, value, pointer);
    return isRight ? this.#object(option, value, pointer) : this.#tag(shape, value, pointer);
  }

  /** Reports an invalid tag, and checks the rest as what was meant, where that is clear. */
  #tag(shape: Kinds, value: Members, pointer: string): false {
    const { fault, meant, member = shape.key } = tagFault(shape, value, pointer, this.#findNearest);
    this.#report(pointerTo(pointer, member), fault);
    if (meant !== undefined) this.#object(meant, value, pointer);
    this.invalid.add(value);
    return false;
  }

  #either(options: readonly Shape[], value: unknown, pointer: string, name: string): boolean {
    const find = (type: Shape['type']): Shape | undefined => options.find((option) => option.type === type);
    const number = find('number') as ParamUse['shape'] | undefined;
    if (isParamRef(value) && isParamShape(find('object'))) {
      // Where a string is allowed as well, the argument's own definition says what the parameter must be.
      return this.#paramRef(value, find('string') === undefined ? (number ?? null) : null, pointer);
    }
    const written = jsonTypeOf(value);
    const choice = written === 'string' && numericText(value) === undefined ? find('choice') : undefined;
    const option = isMembers(value)
      ? optionOf(options, value)
      : (options.find(({ type }) => type === written) ?? choice);
    if (option !== undefined) return this.check(option, value, pointer, name);
    const numeric = number === undefined || number === null ? undefined : numericText(value);
    const isRepair = numeric !== undefined && numberIssue(number!, numeric) === undefined;
    if (numeric !== undefined && !isRepair) return this.check(number!, numeric, pointer, name);
    return this.#mismatch(
      pointer,
      options.map(expected).join(' or '),
      value,
      isRepair ? { value: numeric } : undefined,
      isRepair ? undefined : OBJECT_ADVICE[name],
    );
  }

  #paramRef(value: Members, shape: ParamUse['shape'], pointer: string): boolean {
    const isRight = Object.keys(value).length === 1 && typeof value.param === 'string' && value.param !== '';
    if (!isRight) return this.#mismatch(pointer, 'a parameter {"param": "<name>"}', value);
    this.paramUses.push({ name: value.param as string, pointer, shape });
    return true;
  }

  #array(shape: Shape & { type: 'array' }, value: unknown, pointer: string, name: string): boolean {
    if (!Array.isArray(value)) {
      const mayBeItem = isMembers(value) || (typeof value === 'string' && shape.item.type === 'choice');
      const item = mayBeItem ? this.#settled(shape.item, value, name) : value;
      const isItem = mayBeItem && (isSound(shape.item, item, name) || this.#isClean(shape.item, value, pointer, name));
      const advice = mayBeItem ? 'Put it into a list: [ … ].' : adviceFor(name, shape);
      return this.#mismatch(pointer, 'a list', value, isItem ? { value: [item] } : undefined, advice);
    }
    if (value.length < shape.min) return this.#report(pointer, tooFewItems(shape, value.length, name));
    let isValid = true;
    // Items beyond the limit are one fault, however many and whatever they are.
    for (const [i, item] of value.slice(0, shape.max).entries()) {
      if (!this.check(shape.item, item, pointerTo(pointer, i), name)) isValid = false;
    }
    if (value.length <= shape.max) return isValid;
    return this.#report(pointer, tooManyItems(shape, value.length, name));
  }

  #record(item: Shape, value: unknown, pointer: string, name: string): boolean {
    if (!this.#isObject(value, pointer, undefined, name)) return false;
    let isValid = true;
    for (const name of Object.keys(value)) {
      if (value[name] !== undefined && !this.check(item, value[name], pointerTo(pointer, name), name)) isValid = false;
    }
    return isValid;
  }

  #leaf(shape: Leaf, value: unknown, pointer: string, name: string): boolean {
    const fault = leafFault(shape, value, pointer, name, this.#findNearest);
    return fault === null || this.#report(pointer, fault);
  }

  /** A repaired value with what is certain below it repaired as well; nodes of a graph cannot stand in it. */
  #settled(shape: Shape, value: unknown, name: string): unknown {
    let body: Members = { value };
    for (let round = 0; this.#settles && round < MAX_ROUNDS; round++) {
      const structure = new Structure(new IssueLog(), this.#names, false);
      structure.check(shape, body.value, '/value', name);
      if (structure.repairs.length === 0) break;
      body = repaired(body, structure.repairs);
    }
    return body.value;
  }
}

const isSound = (shape: Shape, value: unknown, name: string): boolean => {
  const log = new IssueLog();
  return new Structure(log, undefined, false).check(shape, value, '/value', name) && log.errorCount === 0;
};
