// An artifact's request: which file is asked for, in which format, and which page of it.
import { z } from 'zod';
import { ARTIFACT_FORMATS, ARTIFACT_NAMES, FORMATS_OF, PORTFOLIO_ARTIFACT_NAMES } from '../../engine/index.ts';
import type { ArtifactFormat, ArtifactName } from '../../engine/index.ts';
import { CSV_PAGE_PARAMETERS, pageRangeOf, type PageRange } from '../http/csvPages.ts';
import { queryRefused } from '../http/envelopeIssues.ts';
import { acceptedFormat } from '../http/files.ts';
import { problem } from '../http/problems.ts';

const VALUES_DESCRIPTION = [
  'For trades: adds what every expression was when each entry and exit was decided, as columns entry.ID and exit.ID,',
  'or by its text where it has no id.',
  'The backtest runs again for it.',
].join(' ');
export const ArtifactQuery = z.strictObject({
  format: z.enum(ARTIFACT_FORMATS).optional().meta({ description: 'Takes precedence over the Accept header.' }),
  values: z.enum(['true', 'false']).optional().meta({ description: VALUES_DESCRIPTION }),
  ...CSV_PAGE_PARAMETERS,
});

/** Which artifact is asked for, and how it is to be sent. */
interface RequestedFile {
  readonly name: ArtifactName;
  readonly format: ArtifactFormat;
  /** Whether trades have what every expression was when each entry and exit was decided. */
  readonly withValues: boolean;
  /** Undefined: the whole file. */
  readonly page: PageRange | undefined;
}

/**
 * @param givenName the name in the path
 * @param accept the request's Accept header, which counts where the query names no format
 * @throws NOT_FOUND for an unknown name; VALIDATION_FAILED for a query that this artifact or format does not take
 */
export function readArtifactRequest(
  givenName: string,
  query: z.infer<typeof ArtifactQuery>,
  accept: string | undefined,
): RequestedFile {
  const name = artifactName(givenName);
  const format = formatOf(name, query.format, accept);
  const page = pageRangeOf(query, format);
  const withValues = query.values === 'true';
  if (withValues && name !== 'trades') {
    const message = `The artifact ${name} takes no "values"; only trades does. Leave the parameter out.`;
    throw queryRefused('values', message);
  }
  return { name, format, withValues, page };
}

/**
 * @param isNamed whether results of the run name their instruments
 * @throws NOT_FOUND for an artifact of portfolios, of a run over one instrument
 */
export function requireArtifactOf(name: ArtifactName, isNamed: boolean): void {
  if (isNamed || ARTIFACT_NAMES.some((each) => each === name)) return;
  throw problem('NOT_FOUND', {
    message:
      `The backtest has one instrument, and the artifact "${name}" is of runs over several. ` +
      `Ask for one of ${ARTIFACT_NAMES.join(', ')}.`,
  });
}

function artifactName(given: string): ArtifactName {
  const name = [...ARTIFACT_NAMES, ...PORTFOLIO_ARTIFACT_NAMES].find((each) => each === given);
  if (name !== undefined) return name;
  throw problem('NOT_FOUND', {
    message: `There is no artifact "${given}". Ask for one of ${ARTIFACT_NAMES.join(', ')}.`,
  });
}

/** `given` if there is one, else the available format that the Accept header prefers, else the artifact's default. */
function formatOf(name: ArtifactName, given: ArtifactFormat | undefined, accept: string | undefined): ArtifactFormat {
  const formats = FORMATS_OF[name];
  if (given !== undefined) {
    if (formats.includes(given)) return given;
    const message = `The artifact ${name} has no format ${given}. Ask for one of ${formats.join(', ')}.`;
    throw queryRefused('format', message);
  }
  return acceptedFormat(formats, accept) ?? formats[0];
}
