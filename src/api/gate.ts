// Gate: lets so many through at one time, the others in the order they came.

export class Gate {
  readonly #width: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#width = Math.max(1, width);
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#inside < this.#width) this.#inside++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line, so that nobody who comes later can take it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside--;
    }
  }
}
