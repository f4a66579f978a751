/** The probe: asks an unknown upstream step by step, and makes a profile of what was proved. */
import { redactor } from '../../redaction.ts'
import { pathText, readPath, splitPath } from '../field-path.ts'
import { toText } from '../field-rule.ts'
import { type Profile, type ProfileInput, parseProfile } from '../profile.ts'
import type { Asker } from './ask.ts'
import { findBeside } from './beside.ts'
import { draftProfile } from './draft.ts'
import { type FoundField, findFields } from './fields.ts'
import { evidenceOf, type Finding, type Gap } from './finding.ts'
import { isName, isUnique, pickId } from './id-field.ts'
import { endpointPath, type FoundList, findList } from './list.ts'
import { findOrder } from './order.ts'
import { type List, type Page, readPage } from './page.ts'
import { type FoundPaging, findPaging } from './paging-found.ts'
import { findSince } from './since.ts'

export interface ProbeOptions {
  readonly base: URL
  /** Of the list, where the user knows it. */
  readonly path: string | null
  /** Empty where there is none. */
  readonly key: string
  /** Told what is being looked for. */
  readonly onStep?: (step: string) => void
}

export interface ProbeResult {
  readonly findings: readonly Finding[]
  readonly gaps: readonly Gap[]
  /** Null where no list was found. What could not be found out is left out of it. */
  readonly input: ProfileInput | null
  /** The same, checked; null where a line must be written by hand before it is whole. */
  readonly profile: Profile | null
  /** Where no list was found: what was asked, and what came back. */
  readonly tried: readonly string[]
}

/** @throws LeadsheetError api_unreachable, api_deferred */
export async function probe(asker: Asker, options: ProbeOptions): Promise<ProbeResult> {
  // An upstream may put the key that it was given into its links.
  const redact = redactor([options.key])
  const result = await ask(asker, options)
  const findings = result.findings.map((each) => ({ ...each, evidence: redact(each.evidence) }))
  const gaps = result.gaps.map((each) => ({ ...each, problem: redact(each.problem) }))
  return { ...result, findings, gaps, tried: result.tried.map(redact) }
}

async function ask(asker: Asker, options: ProbeOptions): Promise<ProbeResult> {
  const { base, key, onStep = () => {} } = options
  onStep('the list of leads')
  const found = await findList(asker, base, options.path, key)
  if ('gaps' in found)
    return { findings: [], gaps: found.gaps, input: null, profile: null, tried: found.tried }

  onStep('pages')
  const strict = await mindsUnknown(asker, found)
  const paging = await findPaging(asker, { ...found.list, isStrict: strict !== null }, found.first)
  const records = paging.records
  const list = withSafeId({ ...found.list, isStrict: strict !== null }, records)
  onStep('fields')
  const fields = findFields(records, list.id)
  onStep('filters')
  const { since, order } = await findFilters(asker, list, paging, fields)
  onStep('what else there is')
  const beside = await findBeside(asker, base, list, found.first, pipelineOf(fields, records))

  const gaps = [...paging.gaps, ...missingFields(fields)]
  if (!isUnique(records, list.id)) gaps.push(repeatedId(list))
  else if (isName(list.id)) gaps.push(onlyName(list))
  if (since === null) gaps.push(noSince(fields))
  const findings = [
    ...found.findings,
    ...listFindings(base, found, list),
    ...paging.findings,
    ...(since === null ? [] : [since.finding]),
    ...(order === null ? [] : [order.finding]),
    idFinding(list, records),
    ...fields.map(fieldFinding),
    ...beside.findings,
  ]
  const input = draftProfile({
    asker,
    base,
    list,
    paging,
    fields,
    since: since?.filter ?? null,
    sort: order?.sort ?? {},
    beside,
  })
  const isWhole = paging.input !== null
  return { findings, gaps, input, profile: isWhole ? parseProfile(input, 'probe') : null, tried: [] }
}

/** Whether a parameter that no server knows changes the answer; then names must be tried one by one. */
async function mindsUnknown(asker: Asker, { list, first }: FoundList): Promise<Page | 'refused' | null> {
  const page = await readPage(asker, list, { leadsheet_probe: '1' })
  if (page === null) return 'refused'
  return page.ids.length === first.ids.length ? null : page
}

/** An id that was unique on the first page may repeat on the next. */
function withSafeId(list: List, records: readonly unknown[]): List {
  if (isUnique(records, list.id)) return list
  const id = pickId(records)
  return id === null ? list : { ...list, id: id.path }
}

async function findFilters(asker: Asker, list: List, paging: FoundPaging, fields: readonly FoundField[]) {
  const rule = fields.find(({ field }) => field === 'updated_at')?.rule
  if (typeof rule !== 'string') return { since: null, order: null }
  const updated = splitPath(rule)
  const { params, headers, records } = paging
  const createdRule = fields.find(({ field }) => field === 'created_at')?.rule
  const created = typeof createdRule === 'string' ? splitPath(createdRule) : null
  const pageSize = paging.largest.ids.length
  const since = await findSince({ asker, list, params, headers, updated, created, pageSize, records })
  const isCounted = paging.input?.kind === 'page' || paging.input?.kind === 'offset'
  const order = isCounted ? await findOrder(asker, list, params, { updated, created }, paging.largest) : null
  return { since, order }
}

function listFindings(base: URL, { first }: FoundList, list: List): Finding[] {
  const path = endpointPath(base, list.url)
  return [
    {
      place: 'endpoints.leads',
      value: path,
      confidence: 'proved',
      evidence: evidenceOf(first.reply, `${first.ids.length} records`),
    },
    {
      place: 'envelope.leads',
      value: list.envelope.length === 0 ? 'the answer itself' : pathText(list.envelope),
      confidence: 'proved',
      evidence: `${evidenceOf(first.reply)}, a list of ${first.ids.length} objects there`,
    },
  ]
}

function idFinding(list: List, records: readonly unknown[]): Finding {
  const isSafe = isUnique(records, list.id)
  return {
    place: 'mapping.lead.id',
    value: pathText(list.id),
    confidence: !isSafe ? 'guessed' : isName(list.id) ? 'likely' : 'proved',
    evidence: isSafe
      ? `in each of ${records.length} records, and no two the same`
      : 'the only candidate, though it repeats',
  }
}

function fieldFinding({ field, rule, confidence, evidence }: FoundField): Finding {
  return { place: `mapping.lead.${field}`, value: ruleText(rule), confidence, evidence }
}

function ruleText(rule: FoundField['rule']): string {
  if (typeof rule === 'string') return rule
  if (Array.isArray(rule)) return rule.join(' or ')
  return 'all' in rule ? rule.all.map(String).join(' + ') : `${rule.from} (${rule.transform})`
}

/** What reports lack most where it was not recognised. */
function missingFields(fields: readonly FoundField[]): Gap[] {
  return (['status', 'company_name', 'created_at', 'updated_at'] as const)
    .filter((name) => !fields.some(({ field }) => field === name))
    .map((name) => ({
      place: `mapping.lead.${name}`,
      problem: 'no field was recognised as this',
      remedy: null,
    }))
}

function noSince(fields: readonly FoundField[]): Gap {
  const hasUpdated = fields.some(({ field }) => field === 'updated_at')
  const why = hasUpdated
    ? 'none of the usual filters has an effect'
    : 'no time of the last change was recognised'
  return {
    place: 'filters.updated_since',
    problem: `${why}: every sync reads the whole list`,
    remedy: null,
  }
}

function repeatedId({ id }: List): Gap {
  return {
    place: 'mapping.lead.id',
    problem: `${pathText(id)} is not the id: different records have the same, and would be taken for one`,
    remedy: 'mapping: { lead: { id: … } }   # a field that every record has, and no two share',
  }
}

function onlyName({ id }: List): Gap {
  return {
    place: 'mapping.lead.id',
    problem: `records have nothing but their ${pathText(id)} to tell them apart: two of the same would be taken for one`,
    remedy: null,
  }
}

function pipelineOf(fields: readonly FoundField[], records: readonly unknown[]): string | null {
  const rule = fields.find(({ field }) => field === 'pipeline_id')?.rule
  return typeof rule === 'string' ? toText(readPath(records[0], splitPath(rule))) : null
}
