/** Adds the filters of the lead list to a request, with the parameters that the profile names. */

import type { Instant } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import type { Profile, TimeFilter } from '../profile/profile.ts'

/** The filters of the lead list. Instants are RFC 3339. */
export interface LeadFilters {
  readonly pipelineId?: string | undefined
  readonly status?: readonly string[] | undefined
  readonly updatedSince?: Instant | undefined
  readonly createdSince?: Instant | undefined
  readonly minScore?: number | undefined
  readonly q?: string | undefined
  /** The order of the leads. It replaces the order in the profile. */
  readonly sort?: string | undefined
}

/**
 * Adds the filters to a request.
 * @throws LeadsheetError usage_invalid for a filter that the upstream does not have
 */
export function putFilters(
  profile: Profile,
  filters: LeadFilters,
  url: URL,
  headers: Record<string, string>,
): void {
  const known = profile.filters
  for (const [name, value] of Object.entries(profile.sort)) url.searchParams.set(name, filters.sort ?? value)
  putTime(known.updated_since, filters.updatedSince, 'updated_since', url, headers)
  putTime(known.created_since, filters.createdSince, 'created_since', url, headers)
  for (const status of filters.status ?? []) putValue(known.status, status, 'status', url)
  putValue(known.pipeline, filters.pipelineId, 'pipeline', url)
  putValue(known.min_score, filters.minScore, 'min_score', url)
  putValue(known.q, filters.q, 'q', url)
}

function putValue(
  param: string | undefined,
  value: string | number | undefined,
  name: string,
  url: URL,
): void {
  if (value === undefined) return
  if (param === undefined) throw noFilter(name)
  url.searchParams.append(param, String(value))
}

function putTime(
  filter: TimeFilter | undefined,
  instant: Instant | undefined,
  name: string,
  url: URL,
  headers: Record<string, string>,
): void {
  if (instant === undefined) return
  if (filter === undefined) throw noFilter(name)
  const value = filter.value.replace('{value}', formatTime(instant, filter.format))
  if (filter.in === 'header') headers[filter.param.toLowerCase()] = value
  else url.searchParams.set(filter.param, value)
}

/**
 * Formats an instant. Digits that the format cannot hold are cut off. The resulting time is then earlier, so
 * that the filter misses no record.
 */
export function formatTime(instant: Instant, format: TimeFilter['format']): string {
  switch (format) {
    case 'iso':
      return instant
    case 'iso_seconds':
      return `${instant.slice(0, 19)}Z`
    case 'datetime':
      return instant.slice(0, 19).replace('T', ' ')
    case 'date':
      return instant.slice(0, 10)
    case 'epoch_s':
      return String(Math.floor(Date.parse(instant) / 1000))
    case 'epoch_ms':
      return String(Date.parse(instant))
  }
}

function noFilter(name: string): LeadsheetError {
  return new LeadsheetError(
    'usage_invalid',
    `This upstream has no filter for ${name} (filters.${name} of its profile is not set)`,
    {
      hint: 'Leave the filter out, or name its parameter in the profile.',
    },
  )
}
