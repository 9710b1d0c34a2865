// Param references: what stands in a canonical strategy where its author referred to a param.
import { argIssue } from '../../indicators/arguments.ts';
import type { ArgDefinition } from '../../indicators/definition.ts';
import { shown } from '../issues/displayNames.ts';
import type { IssueCode } from '../../definitions/issueCodes.ts';
import { numberIssue, type NumberShape } from '../grammar/shapes.ts';
import type { ParamSlots } from './paramSlots.ts';

export type ParamValues = ReadonlyMap<string, number | boolean | string>;

export interface ParamOptions {
  /** What parameters stand for; null leaves references in place. */
  readonly params: ParamValues | null;
  /** What stands for params instead of their values, where that is possible. */
  readonly slots?: ParamSlots;
  /** Called with a value that does not fit its place, of a parameter or an override. */
  readonly onIssue?: (owner: object, member: readonly (string | number)[], code: IssueCode, message: string) => void;
}

/** The references of one strategy. */
export class ParamReferences {
  readonly #options: ParamOptions;

  constructor(options: ParamOptions) {
    this.#options = options;
  }

  /**
   * What stands in the place of a number: the number, a slot for it, or the reference.
   * @param owner the expression or section that the reference is in
   * @param path its place in the owner
   */
  number(
    name: string,
    shape: NumberShape & { code?: IssueCode },
    owner: object,
    path: readonly (string | number)[],
  ): unknown {
    const { params, slots, onIssue } = this.#options;
    if (params === null) return { param: name };
    const slot = slots?.at(name, owner, path.at(-1), (number) => numberIssue(shape, number) === undefined);
    if (slot !== undefined) return slot;
    const value = params.get(name);
    const number = typeof value === 'boolean' ? Number(value) : value;
    if (typeof number !== 'number') {
      onIssue?.(
        owner,
        path,
        value === undefined ? 'PARAM_UNDEFINED' : 'TYPE_MISMATCH',
        value === undefined
          ? `The param ${shown(name)} is not declared.`
          : `A number is required here, and param ${shown(name)} is ${shown(value)}.`,
      );
      return 0;
    }
    const issue = numberIssue(shape, number);
    if (issue !== undefined)
      onIssue?.(owner, path, shape.code ?? 'OUT_OF_RANGE', `Param ${shown(name)} ${issue.message} here.`);
    return number;
  }

  /** What stands in the place of an indicator's or pattern's argument. */
  arg(param: string, definition: ArgDefinition, owner: object): unknown {
    const { params, slots, onIssue } = this.#options;
    if (params === null) return { param };
    const { name, type } = definition;
    const isNumber = type === 'int' || type === 'float';
    const fits = (number: number): boolean => argIssue(definition, number) === undefined;
    const slot = isNumber ? slots?.at(param, owner, name, fits) : undefined;
    if (slot !== undefined) return slot;
    const value = paramAsArg(params.get(param), definition);
    const issue = value === undefined ? undefined : argIssue(definition, value);
    if (value === undefined)
      onIssue?.(owner, ['args', name], 'PARAM_UNDEFINED', `The param ${shown(param)} is not declared.`);
    if (issue !== undefined)
      onIssue?.(owner, ['args', name], issue.code, `Param ${shown(param)} does not fit here: ${issue.message}.`);
    return value;
  }
}

/**
 * A parameter's value as an indicator's argument: a bool parameter may stand for a number, but a number not for a bool.
 */
function paramAsArg(value: number | boolean | string | undefined, definition: ArgDefinition): unknown {
  return typeof value === 'boolean' && definition.type !== 'bool' ? Number(value) : value;
}
