/** Probes a foreign upstream and syncs with the resulting file alone. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { type Auth, type Headers, openAsker } from '../../../src/probe/ask.ts'
import type { KnownProfile } from '../../../src/probe/known-profile.ts'
import { type ProbeResult, probe } from '../../../src/probe/probe.ts'
import { profileText } from '../../../src/probe/profile-text.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { parseJson } from '../../../src/upstream/values/json.ts'
import { openSyncing, SILENT } from '../syncing.ts'
import { type Foreign, KEY, type Shape, startForeign } from './foreign.ts'

const AT_ONCE = { attempts: 2, baseMs: 0, maxMs: 0 }

export interface Probed extends ProbeResult {
  /** The resulting file; empty if no list was found. */
  readonly text: string
}

interface ProbeSettings {
  readonly auth?: Auth | null
  readonly headers?: Headers
  readonly deadline?: AbortSignal
  readonly known?: KnownProfile | null
  readonly name?: string
}

export async function probeForeign(
  url: string,
  key = KEY,
  path: string | null = null,
  { auth = null, headers = {}, deadline, known = null, name }: ProbeSettings = {},
): Promise<Probed> {
  const signal = new AbortController().signal
  const asker = openAsker({
    apiKey: key,
    headers,
    maxWaitMs: 1_000,
    log: SILENT,
    signal,
    ...(deadline && { deadline }),
    gapMs: 0,
    backoff: AT_ONCE,
  })
  try {
    const result = await probe(asker, { base: new URL(url), path, key, auth, known, name })
    const text = result.input === null ? '' : profileText(result.input, result, url, '2026-11-21')
    return { ...result, text }
  } finally {
    await asker[Symbol.asyncDispose]()
  }
}

/** An upstream to probe: its shape, and how it is asked. */
export interface ProbeCase extends ProbeSettings {
  readonly shape: Shape
  readonly key?: string
  /** The address below the upstream; by default the path of its list. */
  readonly at?: string
  /** The server behind the address. */
  readonly query?: string
  /** The path of the list, where the user names it. */
  readonly path?: string
  /** The number of records. */
  readonly count?: number
}

/** The findings of a probe about the request for the list. The rest is the mapping, which has its own tests. */
const TOLD = /^(auth|request|endpoints|paging|envelope|filters|sort|mapping\.lead\.id|stages)\b/

/**
 * Probes upstreams, and tells what was found, what not, and what a sync by the written profile stored, in lines for a
 * golden: of the first one all, and of the others what is not as there.
 */
export async function tellProbes(cases: readonly (readonly [string, ProbeCase])[]): Promise<string> {
  const told: string[] = []
  let usual: readonly string[] = []
  for (const [what, { shape, key = KEY, at = shape.path, query = '', path, count, ...settings }] of cases) {
    await using foreign = await startForeign(shape, count)
    const url = foreign.url + at + query
    const probed = await probeForeign(url, key, path ?? null, settings)
    const lines = [...linesOf(probed), await tellSync(probed, foreign, url, key)].map((line) =>
      line.replaceAll(foreign.url, '').replaceAll(shape.path, '/LIST'),
    )
    const places = lines.map((line) => line.split(': ')[0])
    const without = usual.map((line) => line.split(': ')[0]).filter((place) => !places.includes(place))
    const odd = lines.filter((line) => !usual.includes(line)).map((line) => `  ${line}`)
    const isShort = probed.input !== null && without.length > 0
    told.push(what, ...odd, ...(isShort ? [`  nothing is said of ${without.join(', ')}`] : []))
    if (usual.length === 0) usual = lines
    expect(foreign.requests.length, what).toBeLessThanOrEqual(70)
    // The forms of a key are tried at the list.
    expect(foreign.requests.filter((each) => each === `GET ${shape.path}`).length, what).toBeLessThanOrEqual(
      13,
    )
    expect(foreign.requests.every((request) => request.startsWith('GET '))).toBe(true)
    expect(probed.text, what).not.toContain(KEY)
  }
  return `${told.join('\n')}\n`
}

function linesOf({ findings, gaps }: Probed): string[] {
  const told = findings.filter(({ place }) => TOLD.test(place))
  return [
    ...told.map(({ place, value, confidence, evidence }) => `${place}: ${value}, ${confidence}: ${evidence}`),
    ...gaps.map(
      ({ place, problem, remedy }) => `? ${place}: ${problem}${remedy === null ? '' : ` -> ${remedy}`}`,
    ),
  ]
}

async function tellSync(probed: Probed, foreign: Foreign, url: string, key: string): Promise<string> {
  const { input, tried, text } = probed
  if (input === null) return `no list at ${tried.length} addresses: ${tried.slice(0, 3).join(', ')} …`
  const stored = await syncBy(text, url, key).catch(String)
  if (typeof stored === 'string') return `synced: ${stored}, by ${/by hand: .*/.exec(text)}`
  const isAll = isDeepStrictEqual(stored, recordsOf(foreign))
  const count = isAll ? 'all' : `${stored.size} of ${foreign.records.length}`
  return `synced: ${count} from ${input.endpoints?.leads}, changed at ${JSON.stringify(input.mapping.lead.updated_at)}`
}

/** Probes the list of a new upstream. */
export async function probeShape(shape: Shape): Promise<Probed> {
  await using foreign = await startForeign(shape)
  return await probeForeign(foreign.url + shape.path)
}

/** Syncs with the file of a probe, and returns the stored raw records by id. */
export async function syncBy(text: string, url: string, key = KEY): Promise<ReadonlyMap<string, unknown>> {
  const profile = parseProfile(parse(text), 'profile.yaml')
  await using syncing = await openSyncing(url, key, { source: { profile } })
  const { problems } = await syncing.sync({ pageSize: 500 })
  if (problems[0]) throw new Error(problems[0].message)
  const rows = await syncing.store.db
    .selectFrom('lead')
    .innerJoin('lead_raw', 'lead_no', 'no')
    .select(['id', 'raw'])
    .execute()
  return new Map(rows.map(({ id, raw }) => [id, parseJson(raw)]))
}

/** Returns the upstream's records by id, as parsed JSON. */
export function recordsOf({ ids, records }: Foreign): ReadonlyMap<string, unknown> {
  return new Map(ids.map((id, index) => [id, jsonOf(records[index])]))
}

/** Parses a record. Whole numbers beyond 2^53 are kept as text with all their digits. */
function jsonOf(record: unknown): unknown {
  return JSON.parse(
    JSON.stringify(record, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  )
}
