// What a scenario contains: named features, and how often each and each pair of them occurred.

/** Counts features over scenarios, each at most once per scenario. */
export class FeatureCount {
  readonly #singles = new Map<string, number>();
  readonly #pairs = new Map<string, number>();

  add(features: ReadonlySet<string>): void {
    const names = [...features].toSorted();
    for (const [at, name] of names.entries()) {
      this.#singles.set(name, (this.#singles.get(name) ?? 0) + 1);
      for (const other of names.slice(at + 1)) {
        const pair = `${name} × ${other}`;
        this.#pairs.set(pair, (this.#pairs.get(pair) ?? 0) + 1);
      }
    }
  }

  of(feature: string): number {
    return this.#singles.get(feature) ?? 0;
  }

  ofPair(a: string, b: string): number {
    return this.#pairs.get([a, b].toSorted().join(' × ')) ?? 0;
  }

  /** Features that occurred less often than `least`. */
  rare(features: readonly string[], least: number): string[] {
    return features.filter((feature) => this.of(feature) < least).map((feature) => `${feature}: ${this.of(feature)}`);
  }

  /** A row per feature: how often it occurred, the feature it met least often, and with how many it never met. */
  table(features: readonly string[]): string {
    const rows = features.map((feature) => {
      const others = features.filter((other) => other !== feature);
      const met = others.map((other) => ({ other, count: this.ofPair(feature, other) }));
      const least = met.filter(({ count }) => count > 0).toSorted((a, b) => a.count - b.count)[0];
      const never = met.filter(({ count }) => count === 0).map(({ other }) => other);
      const rarest = least === undefined ? '-' : `${least.other} (${least.count})`;
      return `| ${feature} | ${this.of(feature)} | ${rarest} | ${never.join(', ') || '-'} |`;
    });
    return ['| feature | scenarios | rarest pair | never together with |', '|---|---|---|---|', ...rows].join('\n');
  }

  /** Every pair with its count, rarest first. */
  pairTable(features: readonly string[]): string {
    const pairs = features.flatMap((a, at) =>
      features.slice(at + 1).map((b) => ({ pair: `${a} × ${b}`, count: this.ofPair(a, b) })),
    );
    return pairs
      .toSorted((a, b) => a.count - b.count)
      .map(({ pair, count }) => `${count}\t${pair}`)
      .join('\n');
  }
}
