/** What enrichment finds out about a company. All of it is made up, except whether the directory says it hires. */
import type { Company } from './companies.ts'
import { type Random, randomFor } from './random.ts'

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

export interface Enrichment {
  readonly [field: string]: unknown
  readonly technologies: readonly string[]
  readonly funding: { readonly stage: string; readonly total_usd: number } | null
  readonly hiring: { readonly is_hiring: boolean; readonly open_roles: number }
  readonly social: { readonly linkedin_followers: number; readonly github_stars?: number }
  /** From 0 to 1 for each of the other fields. */
  readonly confidence: Readonly<Record<string, number>>
}

export function inventEnrichment(seed: number, company: Company): Enrichment {
  const random = randomFor(seed, 'enrichment', company.id)
  const employees = company.employees ?? 3
  return {
    technologies: drawTechnologies(company.industry, random),
    funding: random.chance(0.85) ? drawFunding(employees, random) : null,
    hiring: { is_hiring: company.isHiring, open_roles: company.isHiring ? drawRoles(employees, random) : 0 },
    social: {
      linkedin_followers: Math.round(random.spread(400 + employees * 45, 0.8)),
      ...(company.tags.includes('Open Source') ? { github_stars: Math.round(random.spread(900, 1.4)) } : {}),
    },
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

function drawFunding(employees: number, random: Random): Enrichment['funding'] {
  const found = FUNDING_STAGES.find((stage) => employees <= stage.upToEmployees) ?? FUNDING_STAGES[0]
  return { stage: found.stage, total_usd: Math.round(random.spread(found.medianUsd, 0.5) / 50_000) * 50_000 }
}

function drawRoles(employees: number, random: Random): number {
  return Math.max(1, Math.round(random.spread(1 + employees * 0.06, 0.5)))
}

function share(random: Random, min: number, max: number): number {
  return Math.round(random.between(min, max) * 100) / 100
}
