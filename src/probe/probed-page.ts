/** Reads pages of the probed list with their records and ids, and defines the findings of the probe. */
import { toText } from '../upstream/profile/field-rule.ts'
import type { FieldPath } from '../upstream/values/field-path.ts'
import { readPath } from '../upstream/values/field-path.ts'
import { findRecords } from '../upstream/values/json-shape.ts'
import type { Asker, Headers, Reply } from './ask.ts'

export type Params = Readonly<Record<string, string>>

export interface Page {
  readonly reply: Reply
  /**
   * The path of the records in the answer. Some servers put records into an envelope only in paged answers.
   */
  readonly envelope: FieldPath
  readonly records: readonly unknown[]
  readonly ids: readonly string[]
}

export interface List {
  readonly url: URL
  readonly envelope: FieldPath
  readonly id: FieldPath
  /** Tells whether the server refuses unknown parameters or takes them for filters. */
  readonly isStrict: boolean
}

/**
 * Fetches a page of the list with these parameters. Returns null if the server refuses the request or answers
 * with something else than a list.
 */
export async function readPage(
  asker: Asker,
  list: List,
  params: Params = {},
  headers: Headers = {},
): Promise<Page | null> {
  const url = new URL(list.url)
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  return pageOf(await asker.get(url, headers), list)
}

export function pageOf(reply: Reply, list: List): Page | null {
  if (reply.status < 200 || reply.status > 299) return null
  const usual = readPath(reply.body, list.envelope)
  const found = Array.isArray(usual) ? { path: list.envelope, records: usual } : findRecords(reply.body)
  if (found === null) return null
  const records: readonly unknown[] = found.records
  return { reply, envelope: found.path, records, ids: records.map((record) => idOf(record, list.id)) }
}

/** Returns whether a page has records and none of them has one of these ids. */
export function isDisjoint(page: Page, ids: readonly string[]): boolean {
  const before = new Set(ids)
  return page.ids.length > 0 && page.ids.every((id) => !before.has(id))
}

function idOf(record: unknown, path: FieldPath): string {
  return toText(readPath(record, path)) ?? ''
}

/**
 * How sure a finding is: `proved` by an answer that could have been different, `likely` by several signs, or
 * `guessed` by a name alone.
 */
export type Confidence = 'proved' | 'likely' | 'guessed'

export interface Finding {
  /** The part of the profile that was found: `auth`, `paging.param`, `mapping.lead.score`. */
  readonly place: string
  readonly value: string
  readonly confidence: Confidence
  /** The request and a summary of its answer. */
  readonly evidence: string
}

/** A part of the profile that could not be found out, and what to do about it. */
export interface Gap {
  readonly place: string
  readonly problem: string
  /** The lines of the profile that a person must write; null if nothing needs to be done. */
  readonly remedy: string | null
}

/** Writes evidence such as `GET /leads?limit=3 -> 200, 3 records`. */
export function evidenceOf(reply: Reply, what = ''): string {
  return `${reply.request} -> ${reply.status}${what === '' ? '' : `, ${what}`}`
}
