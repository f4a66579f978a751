/** Examines the API of an unknown upstream, and writes a profile (the settings that describe this API). */
import { LeadsheetError } from '../errors.ts'
import { redactor } from '../redaction.ts'
import { isTombstone } from '../upstream/mapping/lead-mapping.ts'
import { toText } from '../upstream/profile/field-rule.ts'
import { listOverwritten, type Overwritten } from '../upstream/profile/overwritten.ts'
import type { Profile, ProfileInput, TimeFilter } from '../upstream/profile/profile.ts'
import { parseProfile } from '../upstream/profile/profile.ts'
import type { FieldPath } from '../upstream/values/json.ts'
import { pathText, readPath, splitPath } from '../upstream/values/json.ts'
import type { Asker, Auth, Finding, Gap, List } from './ask.ts'
import { evidenceOf, finding, gap, questionFor, readPage, shortened } from './ask.ts'
import { columnsOf } from './columns.ts'
import type { FoundField } from './field-probe.ts'
import { findFields, findStages, isName, isUnique, listIds, pickId, unreadForm } from './field-probe.ts'
import { proposeFields } from './field-proposals.ts'
import type { KnownProfile, Step } from './known-profile.ts'
import { type FieldKinds, fieldKinds, STEPS } from './known-profile.ts'
import { findOrder } from './list-parameters.ts'
import type { FoundList } from './list-probe.ts'
import { endpointPath, findList } from './list-probe.ts'
import type { OtherEndpoints } from './other-endpoints.ts'
import { findLead, findOtherEndpoints, NO_OTHER_ENDPOINTS } from './other-endpoints.ts'
import type { FoundPaging } from './paging-found.ts'
import { findPaging, readOn, unreadPaging } from './paging-found.ts'
import { findSearchOrder, findSince, isUndated, type SinceSearch } from './since-probe.ts'

const EVIDENCE_CHARS = 200

interface ProbeOptions {
  readonly base: URL
  readonly path: string | null
  /** The API key; empty if there is none. */
  readonly key: string
  /** The way in which the key is sent; null or absent if the user did not say. */
  readonly auth?: Auth | null
  /** The name of the profile; by default the host. */
  readonly name?: string | undefined
  /** The findings of an earlier probe of this address, which are not asked for again. */
  readonly known?: KnownProfile | null
  readonly onStep?: (step: string) => void
}

export interface ProbeResult {
  readonly findings: readonly Finding[]
  readonly gaps: readonly Gap[]
  /** The parts of `fields` that a user may take over, a line each. */
  readonly proposals: readonly string[]
  /** The profile with all parts that were found; null if no list of leads was found. */
  readonly input: ProfileInput | null
  /** The complete and checked profile; null if the user must first write a missing part by hand. */
  readonly profile: Profile | null
  /** One line for each request and its answer; empty if a list was found. */
  readonly tried: readonly string[]
  /** The step at which the probe ended early; null if it was complete. */
  readonly open?: Step | null
  /** The fields of the records; absent if no list was found. */
  readonly kinds?: FieldKinds
}

/** @throws LeadsheetError api_unreachable, api_deferred */
export async function probe(asker: Asker, options: ProbeOptions): Promise<ProbeResult> {
  // Removes the key from quoted answers, because an upstream may put the key into its links.
  const redact = redactor([options.key])
  const result = await ask(asker, options)
  const findings = result.findings.map((each) => {
    return { ...each, evidence: shortened(redact(each.evidence), EVIDENCE_CHARS) }
  })
  const gaps = result.gaps.map((each) => ({ ...each, problem: redact(each.problem) }))
  const proposals = result.proposals.map(redact)
  return { ...result, findings, gaps, proposals, tried: result.tried.map(redact) }
}

async function ask(asker: Asker, options: ProbeOptions): Promise<ProbeResult> {
  const { base, known = null, onStep = () => {} } = options
  onStep('the list of leads')
  const found = await findList(asker, base, known === null ? options : asKnown(options, known))
  if ('gaps' in found) return { ...found, proposals: [], input: null, profile: null }

  const cut = new Cut(onStep, known)
  const [isStrict, paging] = await cut.go('pages', [false, unreadPaging(found.first)], async () => {
    const isStrict = await mindsUnknown(asker, found)
    const list = { ...found.list, isStrict }
    const input = cut.isDone('pages') ? known?.input.paging : undefined
    return [
      isStrict,
      await (input ? readOn(asker, list, found.first, input) : findPaging(asker, list, found.first)),
    ]
  })
  const records = paging.records
  const first = cut.isDone('id') ? splitPath(String(known?.input.mapping.lead.id)) : found.list.id
  const id = isUnique(records, first) ? first : (pickId(records) ?? first)
  const safe = { ...found.list, isStrict, id }
  const list = await cut.go('id', safe, () => withAskableId(asker, base, safe, records))
  const named = findFields(records, list.id)
  // All further requests are paged, and some upstreams nest the list of records elsewhere in paged answers.
  const paged = { ...list, envelope: paging.largest.envelope }
  const search = searchOf(asker, paged, paging, named)
  const since = await cut.go('filters', null, async () => search && findSince(search))
  // The filter was proved with records that have no time of change yet, so they count by their creation.
  const fields = since === null ? named : withFallback(named, records)
  const [chain, order] = await cut.go('sort', [null, null], async () => {
    // A list by POST is sorted by the time of change, so that searches can follow one another.
    const chain = search && since && list.body ? await findSearchOrder(search, since.filter) : null
    const isCounted = paging.input?.kind === 'page' || paging.input?.kind === 'offset'
    return [chain, search && isCounted && chain === null ? await findOrder(search, paging.largest) : null]
  })
  const ids = records.map((record) => toText(readPath(record, list.id)) ?? '')
  const others = await cut.go('endpoints', NO_OTHER_ENDPOINTS, () =>
    findOtherEndpoints(asker, base, list, ids, pipelineOf(fields, records)),
  )

  const gaps = [...cut.gaps, ...paging.gaps, ...missingFields(fields, records), ...others.gaps]
  const proposals = proposeFields(
    records,
    new Set([pathText(list.id), ...fields.flatMap(({ rule }) => pathsOf(rule))]),
  )
  if (proposals.length > 0)
    gaps.push(
      gap('fields', `nothing reads ${proposals.length} further fields; the profile proposes them as columns`),
    )
  gaps.push(...outcomeGaps(records, fields))
  const gone = records.filter((record) => isTombstone(record, { mapping: {} })).length
  if (gone > 0) gaps.push(gap('mapping.deleted', `a mark leaves out ${gone} of ${records.length} records`))
  gaps.push(...idGaps(list, records))
  if (since === null && cut.gaps.length === 0 && known?.input.filters === undefined)
    gaps.push(noSince(fields, records))
  const findings = [
    ...found.findings,
    ...listFindings(base, found, list),
    ...paging.findings,
    ...(since === null ? [] : [since.finding]),
    ...(order === null ? [] : [order.finding]),
    ...(chain?.findings ?? []),
    idFinding(list, records, others.endpoints.lead !== 'none'),
    ...fields.map(({ field, rule, confidence, evidence }) =>
      finding(`mapping.lead.${field}`, ruleText(rule), confidence, evidence),
    ),
    ...others.findings,
  ]
  const name = options.name ?? known?.input.name ?? base.hostname
  const fresh = draftProfile({ asker, name, base, list, paging, fields, others, since, order, chain })
  const input = known === null ? fresh : keepKnown(fresh, known, cut)
  const profile = paging.input === null ? null : parseProfile(input, 'probe')
  gaps.push(...(profile === null ? [] : listOverwritten(profile, base).map(overwritten)))
  const kept = known?.findings ?? []
  const isKept = new Set(kept.map(({ place }) => place))
  return {
    findings: [...findings.filter(({ place }) => !isKept.has(place)), ...kept],
    gaps,
    proposals,
    input,
    profile,
    tried: [],
    open: cut.open,
    kinds: fieldKinds(records),
  }
}

/** A list that was found before is asked for at its address, with the key as then. */
function asKnown(options: ProbeOptions, { input: { endpoints, auth } }: KnownProfile): ProbeOptions {
  const leads = endpoints?.leads ?? '.'
  const path = /^\.$|^https?:/.test(leads) ? null : leads
  if (auth === undefined || auth === 'none') return { ...options, path }
  const { header = 'Authorization', value = 'Bearer {key}', headers = {}, ...query } = auth
  return { ...options, path, auth: options.auth ?? { header, value, headers, ...query } }
}

/** Returns the draft with the parts that an earlier probe found, as they are in its file now. */
function keepKnown(fresh: ProfileInput, { input }: KnownProfile, cut: Cut): ProfileInput {
  const { endpoints, mapping, request, ...others } = input
  // A filter that was found now may need the time of creation beside that of the change.
  const { updated_at } = cut.isDone('filters') ? mapping.lead : fresh.mapping.lead
  return {
    ...fresh,
    ...others,
    name: fresh.name,
    envelope: { ...fresh.envelope, ...input.envelope },
    endpoints: { ...fresh.endpoints, leads: endpoints?.leads },
    request: cut.isDone('sort') ? request : fresh.request,
    mapping: { ...fresh.mapping, lead: { ...fresh.mapping.lead, ...mapping.lead, updated_at } },
  }
}

/** A step that an earlier probe did, and all steps after a failure, are skipped and return their default. */
class Cut {
  readonly gaps: Gap[] = []
  /** The step that failed. */
  open: Step | null = null
  readonly #onStep: (step: string) => void
  readonly #done: readonly Step[]

  constructor(onStep: (step: string) => void, known: KnownProfile | null) {
    this.#onStep = onStep
    // The order of a list by POST is found by its filter.
    const open = known?.open === 'sort' && known.input.request !== undefined ? 'filters' : known?.open
    this.#done = known?.input.paging ? STEPS.slice(0, STEPS.indexOf(open ?? 'pages')) : []
  }

  isDone(step: Step): boolean {
    return this.#done.includes(step)
  }

  /** Pages are read again even if it is known how, because the other steps need records. */
  async go<T>(step: Step, otherwise: T, look: () => Promise<T>): Promise<T> {
    if (this.gaps.length > 0 || (step !== 'pages' && this.isDone(step))) return otherwise
    this.#onStep(step)
    try {
      return await look()
    } catch (thrown) {
      if (!(thrown instanceof LeadsheetError) || thrown.code === 'run_interrupted') throw thrown
      this.open = step
      const problem = `the probe ended here, and from here on nothing was asked: ${thrown.message}`
      const remedy = 'probe again into the same file, which goes on here, or write these parts yourself'
      this.gaps.push(gap(step, problem, remedy))
      return otherwise
    }
  }
}

/** Unless the upstream ignores an unknown parameter, later steps try only one in each request. */
async function mindsUnknown(asker: Asker, { list, first }: FoundList): Promise<boolean> {
  const page = await readPage(asker, list, { leadsheet_probe: '1' })
  return page?.ids.length !== first.ids.length
}

const IDS_TRIED = 3

/** Some upstreams have a number beside the id that is unique too, but changes with each edit. */
async function withAskableId(
  asker: Asker,
  base: URL,
  list: List,
  records: readonly unknown[],
): Promise<List> {
  const others = listIds(records).filter((path) => /id$/i.test(path.at(-1) ?? ''))
  for (const path of [list.id, ...others].slice(0, IDS_TRIED)) {
    const ids = records.map((record) => toText(readPath(record, path)) ?? '')
    if ((await findLead(asker, base, { ...list, id: path }, ids)) !== null) return { ...list, id: path }
  }
  return list
}

/** Returns null if the records have no time of change. */
function searchOf(
  asker: Asker,
  list: List,
  paging: FoundPaging,
  fields: readonly FoundField[],
): SinceSearch | null {
  const [updated, created] = [pathOf(fields, 'updated_at'), pathOf(fields, 'created_at')]
  if (updated === null) return null
  const { params, headers, records } = paging
  const pageSize = paging.largest.ids.length
  return { asker, list, params, headers, updated, created, pageSize, records }
}

function pathOf(fields: readonly FoundField[], name: FoundField['field']): FieldPath | null {
  const rule = fields.find(({ field }) => field === name)?.rule
  return typeof rule === 'string' ? splitPath(rule) : null
}

function listFindings(base: URL, { first }: FoundList, list: List): Finding[] {
  const count = first.ids.length
  const path = endpointPath(base, list.url)
  const envelope = list.envelope.length === 0 ? 'the answer itself' : pathText(list.envelope)
  return [
    finding('endpoints.leads', path, 'proved', evidenceOf(first.reply, `${count} records`)),
    finding(
      'envelope.leads',
      envelope,
      'proved',
      evidenceOf(first.reply, `a list of ${count} objects there`),
    ),
    ...(list.body === undefined
      ? []
      : [finding('request', 'POST', 'proved', evidenceOf(first.reply, 'where a GET gives no list'))]),
  ]
}

function idFinding(list: List, records: readonly unknown[], isAskable: boolean): Finding {
  const id = pathText(list.id)
  if (!isUnique(records, list.id))
    return finding('mapping.lead.id', id, 'guessed', 'the only candidate, though it repeats')
  const confidence = isName(list.id) || !isAskable ? 'likely' : 'proved'
  const evidence = `unique in ${records.length} records${isAskable ? ', and a record can be asked for by it' : ''}; whether it stays after a change was not tried`
  return finding('mapping.lead.id', id, confidence, evidence)
}

function ruleText(rule: FoundField['rule']): string {
  if (typeof rule === 'string') return rule
  if ('all' in rule) return rule.all.join(' + ')
  const from = [rule.from].flat().join(' or ')
  if ('transform' in rule) return `${from} (${rule.transform})`
  return rule.decimal === undefined ? from : `${from} (decimal ${rule.decimal})`
}

/** Without a status and a company, a report says little, so that a person must name them. */
function missingFields(fields: readonly FoundField[], records: readonly unknown[]): Gap[] {
  return (['status', 'company_name', 'created_at', 'updated_at', 'value_amount'] as const)
    .filter((name) => !fields.some(({ field }) => field === name))
    .flatMap((name) => {
      const remedy = `mapping: { lead: { ${name}: … } }   # the name of the field`
      const isText = name === 'status' || name === 'company_name'
      const form = isText ? null : unreadForm(records, name)
      if (form === null && name === 'value_amount') return []
      return gap(`mapping.lead.${name}`, form ?? 'no field was recognised as this', isText ? remedy : null)
    })
}

/** A stage whose name tells no end may stand beside a status that does. */
function outcomeGaps(records: readonly unknown[], fields: readonly FoundField[]): Gap[] {
  const stage = pathOf(fields, 'status')
  const isEnding = (path: FieldPath) =>
    findStages(records, [path]).some(({ outcome }) => /won|lost/.test(outcome))
  if (stage === null || isEnding(stage)) return []
  return columnsOf(records)
    .filter(({ path, words }) => /status|state/.test(words.at(-1) ?? '') && isEnding(path))
    .slice(0, 1)
    .map(({ path }) =>
      gap('stages', `${pathText(path)} tells what is won or lost, and ${pathText(stage)} does not`),
    )
}

function pathsOf(rule: FoundField['rule']): string[] {
  if (typeof rule === 'string') return [rule]
  return 'all' in rule ? rule.all : [rule.from].flat()
}

/** Adds the time of creation as the fallback of the time of change, if some records lack the latter. */
function withFallback(fields: readonly FoundField[], records: readonly unknown[]): readonly FoundField[] {
  const [updated, created] = [pathOf(fields, 'updated_at'), pathOf(fields, 'created_at')]
  if (updated === null || created === null || !records.some((each) => isUndated(each, updated))) return fields
  const rule = { from: [pathText(updated), pathText(created)] }
  return fields.map((each) => (each.field === 'updated_at' ? { ...each, rule } : each))
}

function noSince(fields: readonly FoundField[], records: readonly unknown[]): Gap {
  const updated = pathOf(fields, 'updated_at')
  const undated = updated === null ? 0 : records.filter((each) => isUndated(each, updated)).length
  const none = 'none of the usual filters has an effect'
  const why =
    updated === null
      ? 'no time of the last change was recognised'
      : undated === 0
        ? none
        : `${undated} of ${records.length} records have no ${pathText(updated)}, and ${none} that lists them too`
  return gap('filters.updated_since', `${why}: every sync reads the whole list`)
}

function idGaps({ id }: List, records: readonly unknown[]): Gap[] {
  const name = pathText(id)
  if (!isUnique(records, id)) {
    const problem = `${name} is not the id: different records have the same, and would be taken for one`
    const remedy = 'mapping: { lead: { id: … } }   # a field that every record has, and no two share'
    return [gap('mapping.lead.id', problem, remedy)]
  }
  const problem = `records have nothing but their ${name} to tell them apart: two of the same would be taken for one`
  return isName(id) ? [gap('mapping.lead.id', problem)] : []
}

function overwritten({ path, param, found }: Overwritten): Gap {
  const problem = `the address that was probed has ${found}, which this would overwrite`
  return gap(path.join('.'), problem, `take ${param} out of api.url`)
}

function pipelineOf(fields: readonly FoundField[], records: readonly unknown[]): string | null {
  const path = pathOf(fields, 'pipeline_id')
  return path && toText(readPath(records[0], path))
}

interface FoundParts {
  readonly asker: Asker
  readonly name: string
  readonly base: URL
  readonly list: List
  readonly paging: FoundPaging
  readonly fields: readonly FoundField[]
  readonly others: OtherEndpoints
  readonly since: Awaited<ReturnType<typeof findSince>>
  readonly order: Awaited<ReturnType<typeof findOrder>>
  readonly chain: Awaited<ReturnType<typeof findSearchOrder>>
}

/** Builds a profile that contains only what was found, without the default values. */
function draftProfile(found: FoundParts): ProfileInput {
  const { asker, name, base, list, paging, fields, others, since, order, chain } = found
  const status = fields.find(({ field }) => field === 'status')?.rule
  const stages = status === undefined ? [] : findStages(paging.records, pathsOf(status).map(splitPath))
  return {
    name,
    endpoints: { leads: leadsPath(base, list, paging), ...others.endpoints },
    auth: authInput(asker),
    ...(list.body === undefined
      ? {}
      : { request: { method: 'POST', body: { ...bodyOf(list, paging), ...chain?.body } } }),
    ...(paging.input === null ? {} : { paging: paging.input }),
    envelope: { leads: pathText(paging.largest.envelope), ...others.envelope },
    ...(since === null ? {} : { filters: { updated_since: sinceInput(since.filter) } }),
    ...(order === null ? {} : { sort: order.sort }),
    mapping: {
      lead: { id: pathText(list.id), ...Object.fromEntries(fields.map(({ field, rule }) => [field, rule])) },
      ...(Object.keys(others.stat).length === 0 ? {} : { stat: others.stat }),
      ...(Object.keys(others.agent).length === 0 ? {} : { agent: others.agent }),
    },
    ...(stages.length === 0 ? {} : { stages }),
    ...(chain === null || chain.records === null ? {} : { limits: { search_records: chain.records } }),
  } as ProfileInput
}

function authInput({ auth, headers }: Asker): ProfileInput['auth'] {
  const further = Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }
  if (auth === 'none') return 'headers' in further ? { value: '', ...further } : auth
  const { header, value, query } = auth
  return query === undefined ? { header, value, ...further } : { query, ...further }
}

function sinceInput({ param, format, value, in: where }: TimeFilter) {
  return {
    param,
    format,
    ...(value === '{value}' ? {} : { value }),
    ...(where === 'query' ? {} : { in: where }),
  }
}

/** With the parameters that every request needs, and without those that the paging sets. */
function leadsPath(base: URL, list: List, { along, input }: FoundPaging): string {
  const { url } = questionFor(list, along)
  for (const param of paramsOf(input)) url.searchParams.delete(param)
  return endpointPath(base, url)
}

/** Returns what each POST sends beside what paging and filters write into it. */
function bodyOf(list: List, { along, input }: FoundPaging): Record<string, unknown> {
  const body = Object.entries(Object(questionFor(list, along).body))
  return Object.fromEntries(body.filter(([name]) => !paramsOf(input).includes(name)))
}

function paramsOf(input: FoundPaging['input']): string[] {
  return ['param', 'size_param'].flatMap((name) => toText(readPath(input, [name])) ?? [])
}
