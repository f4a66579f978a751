/**
 * Invents the enrichment of a lead (further facts about its company) and the texts of its activities. Only
 * the fact that a company is hiring is not invented: it comes from the companies' file. Also decides whether
 * a company matches the criteria of a pipeline.
 */

import type { Criteria } from '../../contract/pipeline.ts'
import type { Company } from './companies.ts'
import type { Random } from './random.ts'
import { randomFor } from './random.ts'

const TECHNOLOGIES = {
  base: ['AWS', 'Google Cloud', 'Cloudflare', 'Google Workspace', 'Slack', 'GitHub', 'Segment', 'HubSpot'],
  B2B: ['PostgreSQL', 'React', 'Kubernetes', 'Snowflake', 'Salesforce', 'Datadog', 'TypeScript'],
  Fintech: ['Plaid', 'Stripe', 'PostgreSQL', 'Kafka', 'Marqeta', 'Java'],
  Healthcare: ['FHIR server', 'Python', 'Redox', 'Azure', 'Benchling'],
  Consumer: ['Shopify', 'React Native', 'Firebase', 'Mixpanel', 'Klaviyo'],
} as const

const FUNDING_STAGES = [
  { upToEmployees: 8, stage: 'pre-seed', medianUsd: 600_000 },
  { upToEmployees: 25, stage: 'seed', medianUsd: 2_800_000 },
  { upToEmployees: 90, stage: 'series A', medianUsd: 13_000_000 },
  { upToEmployees: 300, stage: 'series B', medianUsd: 42_000_000 },
  { upToEmployees: Number.POSITIVE_INFINITY, stage: 'growth', medianUsd: 160_000_000 },
] as const

export function inventEnrichment(seed: number, company: Company) {
  const random = randomFor(seed, 'enrichment', company.id)
  const employees = company.employees ?? 3
  return {
    technologies: drawTechnologies(company.industry, random),
    funding: random.chance(0.85) ? drawFunding(employees, random) : null,
    hiring: {
      is_hiring: company.isHiring,
      open_roles: company.isHiring ? Math.max(1, Math.round(random.spread(1 + employees * 0.06, 0.5))) : 0,
    },
    social: {
      linkedin_followers: Math.round(random.spread(400 + employees * 45, 0.8)),
      ...(company.tags.includes('Open Source') ? { github_stars: Math.round(random.spread(900, 1.4)) } : {}),
    },
    /** The confidence in each other field of the enrichment, from 0 to 1. */
    confidence: {
      technologies: share(random, 0.6, 0.98),
      funding: share(random, 0.4, 0.95),
      hiring: share(random, 0.7, 0.99),
      social: share(random, 0.8, 0.99),
    },
  }
}

function drawTechnologies(industry: string | null, random: Random): readonly string[] {
  const own = industry !== null && industry in TECHNOLOGIES ? industry : 'B2B'
  const pool = [...TECHNOLOGIES.base, ...TECHNOLOGIES[own as keyof typeof TECHNOLOGIES]]
  return Array.from({ length: random.whole(2, 5) }, () => {
    const [taken] = pool.splice(random.whole(0, pool.length - 1), 1)
    return taken ?? 'AWS'
  })
}

function drawFunding(employees: number, random: Random) {
  const found = FUNDING_STAGES.find((stage) => employees <= stage.upToEmployees) ?? FUNDING_STAGES[0]
  return { stage: found.stage, total_usd: Math.round(random.spread(found.medianUsd, 0.5) / 50_000) * 50_000 }
}

function share(random: Random, min: number, max: number): number {
  return Math.round(random.between(min, max) * 100) / 100
}

/** The texts of a lead's activities, by occasion. `{name}` stands for a value. */
const LINES = {
  discovered: [
    'Found through the {source}; matches the criteria of the pipeline',
    'New in the {source}: industry and place fit',
    'Turned up in the {source}, not known before',
  ],
  enriched: [
    'Company data completed; {contact} found as contact',
    'Profile and technologies read from the site; contact is {contact}',
  ],
  scored: ['Fit scored {score} of 100', 'Score {score}: size, industry and signals weighed'],
  qualified: ['Qualified with a score of {score}', 'Good fit at {score}; handed to outreach'],
  disqualified: ['Score {score} is below the bar of the pipeline', 'Too far from the target at {score}'],
  'no longer operating': ['The company no longer operates', 'No sign of activity for a year'],
  contacted: ['First message sent to {contact}', 'Personal introduction sent to {contact}'],
  'contacted without address': ['No address known: {contact} approached through the contact form'],
  bounced: ['Message to {contact} came back: address unknown', 'Mailbox of {contact} is gone'],
  dropped: ['Is a customer of a partner already', 'On the list of those who want no messages'],
  'first follow-up': ['First follow-up sent', 'Reminder sent with a short case study'],
  'last follow-up': ['Last follow-up sent', 'Third message sent, with an offer to close the file'],
  replied: ['Reply: asks to come back later in the year', 'Reply: wants prices first'],
  'replied with interest': ['Reply: interested, asks for dates', 'Reply: would like a demonstration'],
  meeting: ['Meeting held; needs and budget discussed', 'Demonstration given, questions on integration'],
  'set back': ['Their sponsor has left; the successor wants to begin anew', 'Put off by them'],
  negotiating: ['Proposal sent', 'Questions on data protection answered', 'Trial account in use'],
  won: ['Contract signed', 'Order received'],
  'lost in silence': ['No answer after three messages', 'Silent; closed'],
  'lost after reply': ['No need at present', 'Uses a competitor and is content', 'No budget this year'],
  'lost after meeting': ['Decided for a competitor', 'Price too high', 'Will build it themselves'],
} as const
export type LineName = keyof typeof LINES

/** Picks one of the texts for an occasion and fills in its values. */
export function lineFor(
  occasion: LineName,
  random: Random,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return random.pick<string>(LINES[occasion]).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''))
}

/** Maps names that people write in criteria, such as `usa`, to the names that companies have. */
const ALIASES: Readonly<Record<string, string>> = {
  us: 'united states',
  usa: 'united states',
  'united states of america': 'united states',
  uk: 'united kingdom',
  uae: 'united arab emirates',
  'america / canada': 'north america',
  mena: 'middle east and north africa',
}

/**
 * Returns whether a company matches all given criteria. A list matches if one of its entries does. Names must
 * be equal except for case. An industry may also match the subindustry. Keywords may occur anywhere in the
 * name, one-liner, industry, subindustry and tags.
 */
export function isTargeted(company: Company, criteria: Criteria): boolean {
  return (
    holds(
      criteria.industries,
      (name) => name === fold(company.industry) || name === fold(company.subindustry),
    ) &&
    holds(criteria.regions, (name) => name === fold(company.region)) &&
    holds(criteria.countries, (name) => name === fold(company.country)) &&
    isInRange(company.employees, criteria.employees) &&
    holds(criteria.keywords, (word) => keywordText(company).includes(word))
  )
}

function holds(wanted: readonly string[], test: (name: string) => boolean): boolean {
  return wanted.length === 0 || wanted.some((name) => test(ALIASES[fold(name)] ?? fold(name)))
}

function isInRange(employees: number | null, range: Criteria['employees']): boolean {
  if (range === undefined || (range.min === undefined && range.max === undefined)) return true
  return (
    employees !== null && employees >= (range.min ?? 0) && employees <= (range.max ?? Number.MAX_SAFE_INTEGER)
  )
}

function keywordText(company: Company): string {
  const { name, oneLiner, industry, subindustry, tags } = company
  return fold([name, oneLiner, industry, subindustry, ...tags].join(' \n '))
}

function fold(text: string | null): string {
  return (text ?? '').trim().toLowerCase()
}
