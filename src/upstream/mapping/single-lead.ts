/**
 * A lead that was asked for by itself, or that an event brought, as its list would show it: without what only the single
 * lead tells. Where that leaves the bytes of the list's record, the next scan knows the lead by them.
 */
import type { HeldRow, Lead, LeadDetail } from '../../model.ts'
import type { Profile } from '../profile/profile.ts'
import type { FieldPath } from '../values/field-path.ts'
import { mapDetail } from './detail-mapping.ts'
import type { Fingerprint } from './fingerprint.ts'
import { isHeld, mapLead } from './lead-mapping.ts'
import { recordOf } from './raw-record.ts'

export interface SingleLead {
  readonly lead: Lead | HeldRow
  /** Of its record in the list's form. */
  readonly fingerprint: Fingerprint
  /** Why not, where what only the single lead tells cannot be read. */
  readonly detail: LeadDetail | { readonly reason: string }
}

/** @returns the reason where it is not that lead */
export function readSingleLead(raw: unknown, id: string, profile: Profile): SingleLead | { reason: string } {
  const { enrichment, activity } = profile.mapping
  const listed = [enrichment, activity?.items].reduce(withoutPath, raw)
  const { value, text, high, low } = recordOf(listed)
  const mapped = mapLead(value, profile, text)
  if (isHeld(mapped) && mapped.id === null) return { reason: mapped.reason }
  if (mapped.id !== id) return { reason: `it is the lead ${`${mapped.id}`.slice(0, 100)}` }
  return { lead: mapped, fingerprint: { high, low }, detail: mapDetail(raw, id, profile) }
}

/** The same value, or a copy that lacks what is there. */
function withoutPath(value: unknown, path: FieldPath | undefined): unknown {
  const [name, ...rest] = path ?? []
  if (name === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value) || !Object.hasOwn(value, name)) return value
  const { [name]: found, ...others } = value as Record<string, unknown>
  return rest.length === 0 ? others : { ...value, [name]: withoutPath(found, rest) }
}
