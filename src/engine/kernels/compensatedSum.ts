// Neumaier's compensated sum: the order of the values does not matter to the last bit but one.

/** Σ values[first … end-1] */
export function compensatedSum(values: ArrayLike<number>, first = 0, end = values.length): number {
  let total = 0;
  let lost = 0;
  for (let index = first; index < end; index++) {
    const value = values[index];
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

/** The same for values that come one by one. */
export class CompensatedSum {
  #sum = 0;
  #lost = 0;

  get total(): number {
    return this.#sum + this.#lost;
  }

  add(value: number): void {
    const next = this.#sum + value;
    this.#lost += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
  }
}
