// References: what comments, tests and pages cite ("semantics §2.5", docs/fills.md), and whether it is there.

/** The numbers of a page's headings: 2 of "## 2. Orders", 2.5 of "### 2.5 Levels". */
export const headingsOf = (page: string): Set<string> =>
  new Set([...page.matchAll(/^#{2,4} (\d+(?:\.\d+)*)\.? /gm)].map(([, number]) => number));

export interface Pages {
  /** Heading numbers by the name of a page: "semantics" for docs/semantics.md. */
  readonly headings: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether a path from the root of the repository exists. */
  readonly hasFile: (path: string) => boolean;
}

const SECTION = String.raw`§\d+(?:\.\d+)*`;
/** "semantics §2.5", "docs/semantics.md §2.2, §2.6", "semantics §2 to §4"; also "RFC 9457 §3". */
const CITATION = new RegExp(
  String.raw`\b(?:docs/)?(?<page>RFC \d+|[a-z]+)(?:\.md)?[\`)]* ` +
    String.raw`(?<sections>${SECTION}(?:(?:,| to| and)\s+(?:[/*#]+\s*)?${SECTION})*)`,
  'gi',
);

/** Documents that readers of this repository do not have. */
const OUTSIDE: readonly (readonly [RegExp, string])[] = [
  [/\b(?:design|spec|notes|style)\.md\b/g, 'a document outside the repository'],
  [/\bthe (?:design|spec)(?:['’]s)?\b(?! of)/gi, 'a document outside the repository'],
  [/\.\.\/shared\b/g, 'a folder outside the repository'],
  [/\bissue #?\d+\b/g, 'an issue outside the repository'],
];

/**
 * What is wrong with the references of `text`, one line of prose each.
 * @param own the page whose sections a bare § means; null where a § must name its page
 */
export function referenceFaults(text: string, pages: Pages, own: string | null = null): string[] {
  const faults: string[] = [];
  const rest = text.replaceAll(CITATION, (citation, page: string, sections: string) => {
    const name = page.toLowerCase();
    if (name.startsWith('rfc ')) return '';
    const headings = pages.headings.get(name);
    if (headings === undefined) {
      if (own !== null) return citation;
      faults.push(`"${citation}" cites a document that is not in docs/.`);
      return '';
    }
    for (const [section] of sections.matchAll(/(?<=§)[\d.]*\d/g)) {
      if (!headings.has(section)) faults.push(`"${citation}": docs/${name}.md has no heading ${section}.`);
    }
    return '';
  });
  const ownHeadings = own === null ? undefined : pages.headings.get(own);
  for (const [citation, section] of rest.matchAll(/§(\d[\d.]*\d|\d)?/g)) {
    if (ownHeadings === undefined) faults.push(`"${citation}" does not say which document it is a section of.`);
    else if (section === undefined || !ownHeadings.has(section))
      faults.push(`"${citation}": there is no such heading.`);
  }
  for (const [path] of text.matchAll(/\bdocs\/[\w./-]+\.(?:md|json)\b/g)) {
    if (!pages.hasFile(path)) faults.push(`"${path}" does not exist.`);
  }
  for (const [pattern, what] of OUTSIDE) {
    for (const [words] of text.matchAll(pattern)) faults.push(`"${words}" refers to ${what}.`);
  }
  return faults;
}
