// Files: answers that clients save or open: their media types and headers.
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { ArtifactFormat } from '../../engine/index.ts';
import { Json } from './routeSchemas.ts';

const MEDIA_TYPES: Readonly<Record<ArtifactFormat, string>> = {
  arrow: 'application/vnd.apache.arrow.file',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
};
/** The policy of a report: one file that contains its scripts and must not fetch anything. */
const PAGE_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/** The media type without its parameters, as a description and an Accept header have it. */
const bareMediaType = (format: ArtifactFormat): string => MEDIA_TYPES[format].split(';')[0];

/** As JSON, a file is one object per row. */
const Rows = z.array(Json).meta({ description: 'One object per row.' });

/** The contents of a file in one of these formats, for the description of a route that sends it. */
export const fileContents = (formats: readonly ArtifactFormat[], rows: z.ZodType = Rows) =>
  Object.fromEntries(
    formats.map((format) => [bareMediaType(format), { schema: format === 'json' ? rows : z.string() }]),
  );

/** The 200 answer of such a route. */
export const fileAnswer = (...formats: readonly ArtifactFormat[]) => ({
  description: 'The file.',
  content: fileContents(formats),
});

/** The format that an Accept header prefers; undefined when it names none of them. */
export const acceptedFormat = <Format extends ArtifactFormat>(
  formats: readonly Format[],
  accept = '',
): Format | undefined =>
  acceptedTypes(accept)
    .map((type) => formats.find((each) => bareMediaType(each) === type))
    .find((format) => format !== undefined);

/** Media types of an Accept header by descending weight (RFC 9110 §12.5.1); wildcards fall back to the default. */
function acceptedTypes(header: string): string[] {
  const ranges = header.split(',').map((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
  const wanted = ranges.filter((range) => range.weight > 0).sort((a, b) => b.weight - a.weight);
  return wanted.map((range) => range.type);
}

/** Sets the headers of a file, which a browser saves, or shows if it is a page. @param name without its extension */
export function setFileHeaders(reply: FastifyReply, name: string, format: ArtifactFormat): FastifyReply {
  const isPage = format === 'html';
  if (isPage) reply.header('content-security-policy', PAGE_POLICY);
  return reply
    .header('content-type', MEDIA_TYPES[format])
    .header('content-disposition', `${isPage ? 'inline' : 'attachment'}; filename="${name}.${format}"`)
    .header('cache-control', 'private, no-cache');
}
