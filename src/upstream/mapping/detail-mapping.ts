/**
 * Maps the enrichment and the activity history of one lead. An activity that cannot be read is quarantined.
 */
import { createHash } from 'node:crypto'
import type { Activity, Lead, LeadDetail, QuarantinedRecord } from '../../domain/model.ts'
import { readField, readInstant, readText, toId } from '../profile/field-rule.ts'
import type { Profile } from '../profile/profile.ts'
import type { FieldPath } from '../values/json.ts'
import { readPath } from '../values/json.ts'
import { isQuarantined, isTombstone, mapLead } from './lead-mapping.ts'
import type { Fingerprint } from './raw-record.ts'
import { fitRecord, recordOf } from './raw-record.ts'

const ID_DIGITS = 24

/** @returns the details; or the reason if the answer does not contain the details of that lead */
export function mapDetail(raw: unknown, leadId: string, profile: Profile): LeadDetail | { reason: string } {
  const fit = fitRecord(raw)
  if ('reason' in fit) return fit
  const { record, text } = fit
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return { reason: 'it is no record' }
  }
  const { lead, enrichment, activity } = profile.mapping
  const id = toId(readField(record, lead.id))
  if (id !== null && id !== leadId) return { reason: `it is the lead ${id.slice(0, 100)}` }
  const found = enrichment === undefined ? null : (readPath(record, enrichment) ?? null)
  const items = activity === undefined ? null : (readPath(record, activity.items) ?? null)
  if (items !== null && !Array.isArray(items)) return { reason: 'its activity is no list' }
  const entries = (items ?? []).map((item: unknown) => mapActivity(item, leadId, profile))
  return {
    leadId,
    updatedAt: readInstant(record, lead.updated_at),
    enrichment: found === null ? null : JSON.stringify(found),
    activity: entries.filter((entry): entry is Activity => !('reason' in entry)),
    quarantined: entries.filter((entry): entry is QuarantinedRecord => 'reason' in entry),
    raw: text,
  }
}

function mapActivity(raw: unknown, leadId: string, { mapping }: Profile): Activity | QuarantinedRecord {
  const fields = mapping.activity?.fields ?? {}
  const at = readInstant(raw, fields.at)
  if (at === null) {
    const value = JSON.stringify(readField(raw, fields.at)).slice(0, 100)
    const reason = value === 'null' ? 'at: nothing there' : `at: ${value} is not an instant`
    return { resource: 'activity', id: leadId, reason, raw: JSON.stringify(raw) ?? 'null', isWhole: true }
  }
  const entry = {
    at,
    type: readText(raw, fields.type),
    agentId: readText(raw, fields.agent_id),
    summary: readText(raw, fields.summary),
    fromStatus: readText(raw, fields.from_status),
    toStatus: readText(raw, fields.to_status),
  }
  return { id: toId(readField(raw, fields.id)) ?? idOf(entry), ...entry }
}

/** The same activity has the same id in every sync, so the fields of an entry must stay in their order. */
function idOf(entry: Omit<Activity, 'id'>): string {
  const text = JSON.stringify(Object.values(entry))
  return `sha256:${createHash('sha256').update(text).digest('hex').slice(0, ID_DIGITS)}`
}

/**
 * A lead that was fetched by its id or came with an event. Its fingerprint (hash) leaves out the fields that
 * records in the list do not have. The fingerprint can then equal that of the list's record, and the next
 * scan counts the lead as unchanged.
 */
export interface SingleLead {
  readonly lead: Lead | QuarantinedRecord
  readonly fingerprint: Fingerprint
  readonly detail: LeadDetail | { readonly reason: string }
}

/** @returns the lead; or the reason if the record has another id or none */
export function readSingleLead(raw: unknown, id: string, profile: Profile): SingleLead | { reason: string } {
  const { enrichment, activity } = profile.mapping
  const listed = [enrichment, activity?.items].reduce(withoutPath, raw)
  const { value, text, high, low } = recordOf(listed)
  const mapped = mapLead(value, profile, text)
  if (isTombstone(value, profile)) return { reason: 'it says that the lead is deleted' }
  if (isQuarantined(mapped) && mapped.id === null) return { reason: mapped.reason }
  if (mapped.id !== id) return { reason: `it is the lead ${`${mapped.id}`.slice(0, 100)}` }
  return { lead: mapped, fingerprint: { high, low }, detail: mapDetail(raw, id, profile) }
}

function withoutPath(value: unknown, path: FieldPath | undefined): unknown {
  const [name, ...rest] = path ?? []
  if (name === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value) || !Object.hasOwn(value, name)) return value
  const { [name]: found, ...others } = value as Record<string, unknown>
  return rest.length === 0 ? others : { ...value, [name]: withoutPath(found, rest) }
}
