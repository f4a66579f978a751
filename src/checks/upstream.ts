/** Checks for `doctor`, with a few requests that read, whether an upstream still matches its profile. */

import { LEAD_FIELDS } from '../domain/lead-fields.ts'
import type { Lead } from '../domain/model.ts'
import { shellCommand } from '../errors.ts'
import { isQuarantined } from '../upstream/mapping/lead-mapping.ts'
import { type FieldRule, readField, readText } from '../upstream/profile/field-rule.ts'
import type { Source } from '../upstream/source.ts'
import { type FieldPath, fieldsOf, pathText } from '../upstream/values/json.ts'
import { attempt, type CheckResult, fail, ok, warn } from './check.ts'

const SAMPLE = 100
const SMALL = 3
const FAR_FUTURE = '2150-01-01T00:00:00.000Z'
const FAR_PAST = '1990-01-01T00:00:00.000Z'
const NAMES_SHOWN = 8

const PROBE = `look at the upstream; ${shellCommand('probe')} finds out how it works now`

/**
 * If the first request fails, the others are skipped, because nothing else could be judged.
 * @param sample gets the records of the first page
 */
export async function* checkUpstream(
  source: Source,
  signal: AbortSignal,
  sample: unknown[] = [],
): AsyncGenerator<CheckResult> {
  const first = await attempt('list of leads', PROBE, async () => {
    const page = await source.listLeads({}, null, SAMPLE, { signal })
    sample.push(...page.records.map((record) => record.value))
    const total = page.total === null ? '' : ` of ${page.total.toLocaleString('en')}`
    const found = `${page.records.length}${total} records on the first page`
    const remedy = 'if there should be leads, check the key and envelope.leads of the profile'
    return page.records.length > 0 ? ok('list of leads', found) : warn('list of leads', found, remedy)
  })
  yield first
  if (first.status !== 'ok') return
  yield await attempt('second page', 'check the paging part of the profile, or probe again', () =>
    checkSecondPage(source, signal),
  )
  yield* checkFields(source, sample)
  if (source.hasUpdatedSince) {
    yield await attempt('changes alone', 'check filters.updated_since of the profile', () =>
      checkSince(source, signal),
    )
  } else {
    yield ok('changes alone', 'the profile names no filter: each sync reads the whole list')
  }
  yield* checkOtherEndpoints(source, sample, signal)
}

async function checkSecondPage(source: Source, signal: AbortSignal): Promise<CheckResult> {
  const what = 'second page'
  const first = await source.listLeads({}, null, SMALL, { signal })
  if (first.next === null) {
    const isWhole = first.total === null || first.total <= first.records.length
    const found = `${first.records.length} records, and nothing says that there are more`
    return isWhole ? ok(what, found) : fail(what, `${found}, but the total is ${first.total}`, PROBE)
  }
  const second = await source.listLeads({}, first.next, SMALL, { signal })
  const id = source.profile.mapping.lead.id
  const before = new Set(first.records.map((record) => readText(record.value, id)))
  const again = second.records.filter((record) => before.has(readText(record.value, id)))
  if (again.length > 0 && again.length === second.records.length) {
    return fail(what, 'the same records as on the first page', PROBE)
  }
  if (again.length > 0)
    return warn(what, `${again.length} records of the first page again`, 'set a sort that does not change')
  return ok(what, `${second.records.length} records, none of the first page`)
}

function* checkFields(source: Source, sample: readonly unknown[]): Generator<CheckResult> {
  const quarantined = sample.map((record) => source.mapLead(record)).filter(isQuarantined)
  yield quarantined.length === 0
    ? ok('records', `all ${sample.length} of the sample can be read`)
    : warn(
        'records',
        `${quarantined.length} of ${sample.length} cannot be read: ${quarantined[0]?.reason ?? ''}`,
        'check mapping.lead of the profile',
      )

  const { mapping, fields } = source.profile
  const rules: [string, FieldRule | undefined][] = [
    ...Object.entries(mapping.lead),
    ...fields.map(({ name, rule }): [string, FieldRule] => [`fields.${name}`, rule]),
  ]
  const mapped = rules.filter((entry): entry is [string, FieldRule] => entry[1] !== undefined)
  // Many fields are empty in most records (for example, unqualified leads have no value). Therefore a field
  // is reported only if it is empty in every record. Times in the future come late in the life of a lead.
  const empty = mapped
    .filter(([name]) => !LEAD_FIELDS.some((field) => field.column === name && 'isPlanned' in field))
    .filter(([, rule]) => sample.every((record) => isNothing(readField(record, rule))))
    .map(([name]) => name)
  yield empty.length === 0
    ? ok('mapped fields', `${mapped.length}, all with values in the sample`)
    : warn(
        'mapped fields',
        `without a value in all ${sample.length} records of the sample: ${listed(empty)}`,
        'check whether they are called something else now',
      )

  const known = new Set(mapped.flatMap(([, { from = [], all = [] }]) => [...from, ...all].map(fieldOf)))
  const paths = new Set(sample.flatMap((record) => [...fieldsOf(record)].map(({ path }) => pathText(path))))
  const unmapped = [...paths].filter((path) => !isCovered(path, known))
  yield ok('other fields', unmapped.length === 0 ? 'none' : `kept in raw alone: ${listed(unmapped)}`)
}

async function checkSince(source: Source, signal: AbortSignal): Promise<CheckResult> {
  const what = 'changes alone'
  const { records } = await source.listLeads({ updatedSince: FAR_FUTURE }, null, SMALL, { signal })
  const past = await source.listLeads({ updatedSince: FAR_PAST }, null, SMALL, { signal })
  if (past.records.length === 0)
    return fail(
      what,
      `no record changed after ${FAR_PAST.slice(0, 4)}`,
      'check filters.updated_since of the profile',
    )
  return records.length === 0
    ? ok(what, 'a time in the far future leaves no record, as it should')
    : fail(
        what,
        `${records.length} records changed after ${FAR_FUTURE.slice(0, 4)}: the filter has no effect`,
        'check filters.updated_since of the profile, or leave it out',
      )
}

async function* checkOtherEndpoints(
  source: Source,
  sample: readonly unknown[],
  signal: AbortSignal,
): AsyncGenerator<CheckResult> {
  const [lead] = sample
    .map((record) => source.mapLead(record))
    .filter((mapped): mapped is Lead => !isQuarantined(mapped))
  if (source.has('stats') && lead !== undefined) {
    yield await attempt('statistics', 'set endpoints.stats of the profile, or none', async () => {
      const raw = await source.fetchPipelineStats(lead.pipelineId, {}, signal)
      const stat = source.mapPipelineStat(raw, lead.pipelineId, FAR_FUTURE)
      return isQuarantined(stat)
        ? fail('statistics', stat.reason, 'check mapping.stat of the profile')
        : ok('statistics', `pipeline ${lead.pipelineId}: ${stat.leads ?? 'no number of'} leads`)
    })
  } else yield ok('statistics', 'the profile says that there are none')
  if (source.has('agents')) {
    yield await attempt('agents', 'set endpoints.agents of the profile, or none', async () => {
      const agents = await source.fetchAgents(signal)
      const unread = agents.map((agent) => source.mapAgent(agent)).filter(isQuarantined)
      return unread.length === 0
        ? ok('agents', `${agents.length} read`)
        : warn(
            'agents',
            `${unread.length} of ${agents.length} cannot be read: ${unread[0]?.reason ?? ''}`,
            'check mapping.agent of the profile',
          )
    })
  } else yield ok('agents', 'the profile says that there are none')
}

/** The path of a list stands for what is in its items. */
function fieldOf(path: FieldPath): string {
  return pathText(path).replaceAll(/\[[^[\]]*\]/g, '')
}

/** Returns whether the profile maps the path, a group around the path, or a field inside the path. */
function isCovered(path: string, known: ReadonlySet<string>): boolean {
  // If a group of fields is null in the sample, `path` is the path of the whole group. The group counts as
  // mapped if one of its fields is mapped.
  return (
    known.has(path) || [...known].some((each) => path.startsWith(`${each}.`) || each.startsWith(`${path}.`))
  )
}

function isNothing(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN
  return names.slice(0, NAMES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
