/** The events that are read from verified messages, in every form that their senders may use. */
import { describe, expect, it, test } from 'vitest'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { webhookProfileSchema } from '../../../src/upstream/profile/webhook-profile.ts'
import { readEvents } from '../../../src/upstream/webhooks/read-events.ts'
import { pick, random, randomJson } from '../../support/random.ts'

type Headers = Readonly<Record<string, readonly string[]>>

/**
 * @param written the part of a profile
 * @param body the body as a value, or as its text
 */
function read(written: object, body: unknown, headers: Headers = {}) {
  const webhook = webhookProfileSchema.parse({ verify: { scheme: 'token' }, lead: 'lead', ...written })
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return readEvents(webhook, { headers, body: Buffer.from(text) })
}

const idsIn = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id)

test('of an event of the reference service is read what its type says', async () => {
  const { webhook } = REFERENCE_PROFILE
  if (webhook === undefined) throw new Error('it has no webhooks')
  const told = [
    { type: 'lead.updated', data: { lead_id: 'ld', pipeline_id: 'pl' } },
    { type: 'lead.removed', data: { lead_id: 'ld', pipeline_id: 'pl' } },
    { type: 'pipeline.updated', data: { pipeline_id: 'pl' } },
    { type: 'agent.status_changed', data: { agent_id: 'ag' } },
    { type: 'webhook.ping', data: { webhook_id: 'wh' } },
  ].map((event) => {
    const body = Buffer.from(JSON.stringify({ id: 'evt', timestamp: '2026-11-21T09:00:00Z', ...event }))
    return JSON.stringify(readEvents(webhook, { headers: { 'webhook-id': ['msg_1'] }, body }))
  })
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/reference-events.txt')
})

describe('the id of an event', () => {
  it('of a header counts the events behind it', () => {
    const places = { id: { header: 'Webhook-Id' } }
    const headers = { 'webhook-id': ['msg_1'] }
    expect(idsIn(read(places, { lead: 'a' }, headers))).toEqual(['msg_1'])
    expect(idsIn(read(places, [{ lead: 'a' }, { lead: 'b' }], headers))).toEqual(['msg_1:0', 'msg_1:1'])
  })

  it('is made of the event where there is none, and so the same for the same event', () => {
    const [one, again, other] = [
      { lead: 'a', n: 1 },
      { lead: 'a', n: 1 },
      { lead: 'a', n: 2 },
    ]
    const ids = idsIn(read({}, [one, again, other]))
    expect(ids[0]).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect([ids[1] === ids[0], ids[2] === ids[0]]).toEqual([true, false])
    expect(idsIn(read({ id: 'id' }, one))).toEqual([ids[0]])
    for (const id of [true, null, {}, [], ''])
      expect(idsIn(read({ id: 'id' }, { ...one, id }))[0]).toMatch(/^sha256:/)
  })
})

it('events of one message are read up to a thousand, and it is said that there were more', () => {
  const events = read(
    {},
    Array.from({ length: 1_002 }, (_, lead) => ({ lead })),
  )
  expect(events).toHaveLength(1_001)
  expect(events.at(-1)?.problem).toBe('one message with 1002 events: only 1000 are read')
  expect(new Set(idsIn(events)).size).toBe(1_001)
})

/** Writes a sign that cannot be seen as its number. */
const escapeSign = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Profiles and messages, by what is read of them. */
const READ: readonly (readonly [object, unknown])[] = [
  ...[{ id: 1 }, true, ['a'], 'x'.repeat(257), null, ''].map((lead) => [{}, { lead }] as const),
  [{}, {}],
  ...[1_795_251_600, '1795251600123', '2026-11-21T10:00:00+01:00', 'yesterday', {}].map(
    (time) =>
      [
        { time: 'time', id: 'lead' },
        { lead: 1, time },
      ] as const,
  ),
  [
    { type: 'type', id: 'type' },
    { lead: 'a\u0000\u202eb', type: `${'x'.repeat(199)}😀` },
  ],
  [{ items: 'data.events', id: 'lead' }, { data: { events: [{ lead: 1 }, { lead: 2 }] } }],
  [{ items: '', id: 'lead' }, [{ lead: 1 }, { lead: 2 }]],
  [{ id: 'lead' }, [{ lead: 1 }, { lead: 2 }]],
  [{ items: 'data' }, { data: [] }],
  [{ items: 'data' }, { data: { lead: 1 } }],
  [{}, [{ lead: 1 }, 7, null, ['x']]],
  // Each digit of a large number counts, and names that every object has lead nowhere.
  [{ id: 'id' }, '{"id":9007199254740993,"lead":12345678901234567890}'],
  [{ lead: 'constructor.name', type: 'toString.name' }, '{"__proto__":{"lead":"x"},"toString":1}'],
  [{ lead: '__proto__.lead' }, '{"__proto__":{"lead":"x"}}'],
]

test('of each message is read what its profile says, or why nothing is', async () => {
  const told = READ.flatMap(([profile, body]) => [
    `${JSON.stringify(profile)} ${JSON.stringify(body)}`,
    ...read(profile, body).map((event) => `  ${JSON.stringify(event)}`),
  ])
  await expect(`${told.join('\n')}\n`.replace(/\p{Cf}/gu, escapeSign)).toMatchFileSnapshot(
    'golden/events.txt',
  )
})

const SEED = Number(process.env['SEED'] ?? 8)

test(`whatever a message is and a profile says, events come of it, and nothing is thrown, SEED=${SEED}`, () => {
  const next = random(SEED)
  const names = ['id', 'lead', 'data', 'type', '0', '', '__proto__', 'constructor', 'length', 'a.b']
  const path = () => Array.from({ length: Math.floor(next() * 4) }, () => pick(next, names)).join('.')
  const place = () => (next() < 0.2 ? { header: pick(next, names) || 'x' } : path())
  const maybe = (key: string, value: unknown) => (next() < 0.6 ? { [key]: value } : {})
  const profile = () => ({
    verify: { scheme: 'token' },
    lead: next() < 0.5 ? path() : { from: [[pick(next, names) || 'x']], transform: 'join' },
    ...maybe('items', path()),
    ...maybe('id', place()),
    ...maybe('type', place()),
    ...maybe('time', place()),
    ...maybe('pipeline', path()),
    ...maybe('agent', path()),
    deleted: ['1', 'x'],
  })
  const leaves = [null, true, 1, 1e300, '', 'x', '\ud800', '2026-11-21', 'y'.repeat(400)]
  for (let round = 0; round < 1_000; round++) {
    const whole = JSON.stringify(randomJson(next, leaves, names))
    const body = Buffer.from(next() < 0.1 ? whole.slice(0, Math.floor(next() * whole.length)) : whole)
    const headers = Object.fromEntries([[pick(next, names), [pick(next, ['', 'x'])]]])
    const events = readEvents(webhookProfileSchema.parse(profile()), { headers, body })
    for (const { id, resource, resourceId, problem } of events) {
      expect(id.length > 0 && id.length <= 256).toBe(true)
      expect(resource === 'lead' || resource === 'pipeline' ? resourceId !== '' : resourceId === '').toBe(
        true,
      )
      expect(problem === null || resource === null).toBe(true)
    }
  }
})
