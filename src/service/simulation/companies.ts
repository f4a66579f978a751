/** Reads `data/companies.ndjson` (see data/README.md), and corrects known errors in that file. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { errorText, LeadsheetError } from '../../errors.ts'

const recordSchema = z.object({
  id: z.int(),
  name: z.string(),
  website: z.string().nullable(),
  location: z.string().nullable(),
  one_liner: z.string().nullable(),
  team_size: z.int().nonnegative().nullable(),
  industry: z.string().nullable(),
  subindustry: z.string().nullable(),
  tags: z.array(z.string()),
  regions: z.array(z.string()),
  status: z.string(),
  is_hiring: z.boolean(),
})

export type Company = Readonly<ReturnType<typeof toCompany>>

/** @throws LeadsheetError service_data, which names the line of the mistake */
export function readCompanies(file: string): readonly Company[] {
  const lines = readLines(file)
  const companies = lines.map((line, index) => parseCompany(line, file, index + 1))
  if (companies.length === 0) throw dataError(file, 'it holds no company')
  return companies
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
  } catch (error) {
    throw dataError(file, errorText(error), error)
  }
}

function parseCompany(line: string, file: string, lineNumber: number): Company {
  try {
    return toCompany(recordSchema.parse(JSON.parse(line)))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
    throw dataError(file, `line ${lineNumber}: ${reason}`, error)
  }
}

function dataError(file: string, reason: string, cause?: unknown): LeadsheetError {
  return new LeadsheetError('service_data', `The sample companies in ${file} cannot be read: ${reason}.`, {
    hint: 'Name a file of companies, one JSON object a line, as data/companies.ndjson has them.',
    cause,
  })
}

function toCompany(record: z.infer<typeof recordSchema>) {
  return {
    id: record.id,
    name: oneLine(record.name) ?? `Company ${record.id}`,
    domain: domainOf(record.website),
    industry: specified(record.industry),
    subindustry: specified(record.subindustry),
    employees: record.team_size,
    ...placeOf(record.location),
    /** The region of the company's first office. */
    region: regionName(record.regions[0]),
    oneLiner: oneLine(record.one_liner),
    tags: record.tags as readonly string[],
    isActive: record.status !== 'Inactive',
    isHiring: record.is_hiring,
  }
}

function oneLine(text: string | null): string | null {
  return text?.replace(/\s+/g, ' ').trim() || null
}

function specified(text: string | null): string | null {
  return text === 'Unspecified' ? null : oneLine(text)
}

function regionName(region: string | undefined): string | null {
  return region === 'America / Canada' ? 'North America' : (region ?? null)
}

/** Matches hosts that companies name as their website but that belong to others, such as facebook.com. */
const FOREIGN_HOSTS =
  /(^|\.)(angel\.co|apple\.com|blogspot\.com|crunchbase\.com|facebook\.com|google\.com|linkedin\.com|lnkd\.in|m\.me|medium\.com|producthunt\.com|twitter\.com|x\.com|ycombinator\.com|youtube\.com)$/

function domainOf(website: string | null): string | null {
  const address = website?.trim() ?? ''
  const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `https://${address}`)
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  const host = url.hostname.replace(/^www\./, '')
  return /^[a-z0-9.-]+\.[a-z0-9-]{2,}$/.test(host) && !FOREIGN_HOSTS.test(host) ? host : null
}

/** The first office in `Pune, MH, India; Remote`. The city is null if only a state (`NY, USA`) is named. */
function placeOf(location: string | null): { city: string | null; country: string | null } {
  const parts = (location ?? '').split(';', 1).flatMap((office) => office.split(','))
  const [first, ...rest] = parts.map((part) => part.trim()).filter((part) => part !== '' && part !== 'Remote')
  const last = rest.at(-1)
  if (first === undefined) return { city: null, country: null }
  if (last === undefined) return { city: null, country: countryName(first) }
  const isState = rest.length === 1 && (/^[A-Z]{2}$/.test(first) || first === 'England')
  return { city: isState ? null : first, country: countryName(last) }
}

function countryName(name: string): string {
  return name === 'USA' ? 'United States' : name
}
