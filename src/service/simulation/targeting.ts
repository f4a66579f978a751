/** Which companies a pipeline looks for. */
import type { Criteria } from '../../contract/pipeline.ts'
import type { Company } from './companies.ts'

/** Other names that people write in criteria, folded, for the names the companies carry. */
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
 * All given criteria must hold; within one list, any entry. Names are compared whole and without case,
 * industries also with the subindustry, keywords anywhere in name, one-liner, industry and tags.
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
