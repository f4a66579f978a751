/**
 * An upstream over HTTP whose leads come, change and go. It sends an event for each change, and the network
 * loses, repeats and reorders events. The true states are kept for comparison.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { UpstreamEvent } from '../../src/domain/model.ts'
import { type Profile, type ProfileInput, parseProfile } from '../../src/upstream/profile/profile.ts'

export interface WorldOptions {
  readonly random: () => number
  /** If true, its leads have the time of their last update, so changes can be asked for. */
  readonly hasTimes: boolean
  /** If true, an event brings the record of its lead. */
  /** If true, a single lead has another form than in the list. */
  readonly hasOtherForm: boolean
}

interface WorldLead {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly score: number
  readonly created: string
  readonly updated: string
}

export interface World {
  readonly profile: Profile
  readonly leads: Map<string, WorldLead>
  /** Each state that a lead has had, such as `status score`, by lead. */
  readonly past: Map<string, string[]>
  readonly clock: { now: Date }
  /** Makes one change. */
  change(): UpstreamEvent
}

const STATUSES = ['new', 'contacted', 'won', 'lost']
/** Few enough to be believed when two scans in a row miss them. */
const REMOVALS_MAX = 5

export function createWorld(options: WorldOptions): World {
  const { random } = options
  const leads = new Map<string, WorldLead>()
  const past = new Map<string, string[]>()
  const clock = { now: new Date('2026-11-21T06:00:00Z') }
  let removals = 0
  let events = 0
  const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]

  function put(lead: WorldLead): WorldLead {
    leads.set(lead.id, lead)
    past.set(lead.id, [...(past.get(lead.id) ?? []), `${lead.status} ${lead.score}`])
    return lead
  }

  function create(): WorldLead {
    const at = clock.now.toISOString()
    const id = `l${String(past.size).padStart(3, '0')}-${Math.floor(random() * 1000)}`
    return put({ id, name: `Company ${id}`, status: 'new', score: 0, created: at, updated: at })
  }

  function changeOne(): { readonly lead: WorldLead; readonly type: string } {
    const dice = random()
    const found = oneOf([...leads.values()])
    if (found === undefined || dice < 0.15) return { lead: create(), type: 'created' }
    if (dice < 0.25 && removals < REMOVALS_MAX) {
      removals++
      leads.delete(found.id)
      return { lead: found, type: 'removed' }
    }
    const change = { status: oneOf(STATUSES) ?? 'new', score: Math.floor(random() * 3) }
    return { lead: put({ ...found, ...change, updated: clock.now.toISOString() }), type: 'updated' }
  }

  for (let count = 0; count < 12; count++) create()
  return {
    profile: parseProfile(profileOf(options), 'test'),
    leads,
    past,
    clock,
    change() {
      clock.now = new Date(clock.now.getTime() + 1 + Math.floor(random() * 2000))
      const { lead, type } = changeOne()
      return {
        id: `event-${++events}`,
        type,
        occurredAt: clock.now.toISOString(),
        resource: 'lead',
        resourceId: lead.id,
        isDeletion: type === 'removed',
        problem: null,
      }
    },
  }
}

export interface WorldServer {
  /** Adds a world as an upstream, and returns its URL. */
  add(world: World): string
  close(): Promise<void>
}

export async function serveWorlds(): Promise<WorldServer> {
  const worlds: World[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const world = worlds[Number(url.pathname.split('/')[1])]
    const answer = world === undefined ? null : answerOf(world, url)
    // The answer was true when the request came, but need not be when it is read.
    setImmediate(() => setImmediate(() => send(response, answer)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  return {
    add: (world) => `http://127.0.0.1:${port}/${worlds.push(world) - 1}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The answer is text, so later changes do not alter it. */
function answerOf({ leads, profile }: World, { pathname, searchParams }: URL): string | null {
  const hasTimes = profile.filters.updated_since !== undefined
  if (pathname.endsWith('/leads')) return JSON.stringify(pageOf([...leads.values()], hasTimes, searchParams))
  const lead = leads.get(pathname.split('/').at(-1) ?? '')
  if (lead === undefined) return null
  const record = recordOf(lead, hasTimes)
  const single =
    profile.name === 'other form'
      ? { version: 2, ...Object.fromEntries(Object.entries(record).reverse()) }
      : record
  return JSON.stringify({ ...single, found: { by: 'agent' }, activity: [] })
}

function pageOf(all: readonly WorldLead[], hasTimes: boolean, query: URLSearchParams) {
  const keyOf = ({ id, updated }: WorldLead): string => (hasTimes ? `${updated} ${id}` : id)
  const since = query.get('updated_since') ?? ''
  const after = query.get('cursor') ?? ''
  const limit = Number(query.get('limit'))
  const rest = all
    .filter((lead) => lead.updated >= since && keyOf(lead) > after)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return {
    leads: page.map((lead) => recordOf(lead, hasTimes)),
    next: last !== undefined && rest.length > limit ? keyOf(last) : null,
  }
}

function recordOf({ updated, ...lead }: WorldLead, hasTimes: boolean): object {
  return hasTimes ? { ...lead, updated } : lead
}

function send(response: ServerResponse, answer: string | null): void {
  response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' })
  response.end(answer ?? '{}')
}

function profileOf({ hasTimes, hasOtherForm }: WorldOptions): ProfileInput {
  return {
    name: hasOtherForm ? 'other form' : 'one form',
    paging: { kind: 'cursor', param: 'cursor', next: 'next', size_param: 'limit' },
    envelope: { leads: 'leads' },
    filters: hasTimes ? { updated_since: { param: 'updated_since' } } : {},
    mapping: {
      lead: {
        id: 'id',
        company_name: 'name',
        status: 'status',
        score: 'score',
        created_at: 'created',
        ...(hasTimes ? { updated_at: 'updated' } : {}),
      },
      enrichment: 'found',
      activity: { items: 'activity', fields: { at: 'at' } },
    },
    webhook: { verify: { scheme: 'standard' }, lead: 'lead.id' },
  }
}
