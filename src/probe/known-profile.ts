/**
 * Reads what an earlier probe wrote into a profile beside its parts: the evidence, the step at which it ended, and
 * the fields that the records had. They stand in comments, so that the profile holds without them.
 */
import { parseDocument } from 'yaml'
import type { ProfileInput } from '../upstream/profile/profile.ts'
import { pathText, readPath } from '../upstream/values/json.ts'
import { toInstant } from '../upstream/values/scalar.ts'
import { type Confidence, type Finding, finding } from './ask.ts'
import { columnsOf } from './columns.ts'

/** The steps of a probe after the list was found, in their order. */
export const STEPS = ['pages', 'id', 'filters', 'sort', 'endpoints'] as const
export type Step = (typeof STEPS)[number]

/** Begins the comments that are read back. */
export const ENDED_AT = 'Not asked yet, beginning with: '
export const FIELDS_WERE = 'The fields of the records, which `--check` compares:'

export interface KnownProfile {
  readonly input: ProfileInput
  /** The address that was probed. */
  readonly url: string
  /** The first step that was not done. */
  readonly open: Step
  /** The evidence of parts that were found. */
  readonly findings: readonly Finding[]
}

/** The parts that are kept with their evidence. The others are looked at again. */
const KEPT =
  'auth request paging paging.kind paging.size_param paging.size_max paging.total filters.updated_since sort'

/** Returns what a probe found before it ended early; null if the text is no such profile. */
export function readKnown(text: string): KnownProfile | null {
  const open = STEPS.find((step) => text.includes(`${ENDED_AT}${step}`))
  const url = /found out about (\S+) on /.exec(text)?.[1]
  const document = parseDocument(text)
  if (open === undefined || url === undefined || document.errors.length > 0) return null
  const input = document.toJS()
  const findings = KEPT.split(' ').flatMap((place) => {
    const [confidence, evidence = ''] = evidenceIn(text, place.split('.').at(-1) ?? '')
    const value = 'as found before'
    return confidence === undefined ? [] : [finding(place, value, confidence as Confidence, evidence)]
  })
  return { input, url, open, findings }
}

/** Returns the confidence and the evidence in the comment above a part, or beside it. */
function evidenceIn(text: string, key: string): string[] {
  const comment = '# (proved|likely|guessed): (.*)'
  const [, ...found] = new RegExp(`^ *${comment}\n *${key}:|^ *${key}: .*${comment}$`, 'm').exec(text) ?? []
  return found.filter((part) => part !== undefined)
}

/** The kind of the values of each field, by the text of its path. */
export type FieldKinds = Readonly<Record<string, string>>

/** A field that less than half of the records have is `rare`, because it may be missing by chance. */
export function fieldKinds(records: readonly unknown[]): FieldKinds {
  return Object.fromEntries(
    columnsOf(records).map(({ path, values }) => {
      const kinds = new Set(values.map(kindOf))
      const having = records.filter((record) => readPath(record, path) !== undefined).length
      const kind = kinds.size > 1 ? 'mixed' : ([...kinds][0] ?? 'empty')
      return [pathText(path), having * 2 < records.length ? 'rare' : kind]
    }),
  )
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  return typeof value === 'string' ? (toInstant(value) === null ? 'text' : 'instant') : typeof value
}

/** Writes the kinds as lines such as `text: ["id","name"]`. */
export function kindLines(kinds: FieldKinds): string[] {
  const names = Object.groupBy(Object.keys(kinds), (name) => kinds[name] ?? '')
  return Object.entries(names).map(([kind, paths]) => `${kind}: ${JSON.stringify(paths)}`)
}

/** Returns the kinds that {@link kindLines} wrote; null if a profile has none. */
export function readKinds(text: string): FieldKinds | null {
  const rows = [...(text.split(FIELDS_WERE)[1] ?? '').matchAll(/^# +(\w+): (\[".*"\])$/gm)]
  const kinds = rows.flatMap(([, kind, paths = '[]']) =>
    JSON.parse(paths).map((path: string) => [path, kind]),
  )
  return kinds.length === 0 ? null : Object.fromEntries(kinds)
}

/** Says which fields came, went, and have values of another kind; empty if none did. */
export function describeChanges(before: FieldKinds, now: FieldKinds): string {
  const isKnown = (kind = 'rare') => !/^(rare|empty|mixed)$/.test(kind)
  const changed = Object.entries(now).filter(
    ([path, kind]) => isKnown(kind) && isKnown(before[path]) && before[path] !== kind,
  )
  const lists = {
    came: Object.keys(now).filter((path) => !(path in before)),
    went: Object.keys(before).filter((path) => !(path in now) && before[path] !== 'rare'),
    'changed their type': changed.map(([path, kind]) => `${path} (${kind}, was ${before[path]})`),
  }
  const texts = Object.entries(lists).map(([what, paths]) => `${what}: ${paths.join(', ')}`)
  return texts.filter((text) => !text.endsWith(': ')).join('\n')
}
