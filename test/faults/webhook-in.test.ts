/** Messages of strangers, broken senders and the network to the receiver of events, and their effects. */
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, it } from 'vitest'
import {
  CHANGED,
  eventBody,
  KEPT_OPEN,
  OTHER_SECRET,
  openReceiver,
  profileOf,
  RECEIVED_AT,
  SECRET,
  type Sent,
  send,
  signed,
  standardProfile,
} from '../support/network/webhook-receiver.ts'
import { checkExamples } from '../support/process/transcript.ts'
import { countCases, random } from '../support/random.ts'

const SEED = Number(process.env['SEED'] ?? 63)
const BODIES = countCases(20, 1_000)
const AT_ONCE = 20
const LARGEST = 256 * 1024
const KEPT = { agent: KEPT_OPEN }
const JSON_TYPE = { 'content-type': 'application/json' }

/** Returns an event with so many bytes. */
function eventOf(bytes: number): string {
  const event = { type: 'lead.updated', data: { lead_id: 'ld_1' }, note: '' }
  return JSON.stringify({ ...event, note: 'x'.repeat(bytes - JSON.stringify(event).length) })
}

/** Returns values nested so many levels deep. */
const nested = (levels: number): string =>
  `{"type":"lead.updated","data":{"lead_id":"ld_1"},"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`

describe('a message to the receiver of events', () => {
  it('is on disk when its sender is told that it was taken', async () => {
    const { url, events, queued, outcomes } = await openReceiver()
    const { status, text } = await send(url, CHANGED, signed(CHANGED))
    expect([status, text, outcomes]).toEqual([204, '', ['taken']])
    expect(await events()).toMatchObject([
      {
        id: 'msg_1',
        type: 'lead.updated',
        resource: 'lead',
        resource_id: 'ld_1',
        occurred_at: '2026-11-21T08:59:59.000Z',
        received_at: RECEIVED_AT.toISOString(),
      },
    ])
    expect(await queued()).toMatchObject([{ resource: 'lead', resource_id: 'ld_1', events: 1 }])
  })

  const headers = signed(CHANGED)
  const { 'webhook-signature': _signature, ...unsigned } = headers
  const UNVERIFIED: readonly (readonly [string, string | Buffer, Record<string, string | string[]>])[] = [
    ['with another body than was signed', CHANGED.replace('ld_1', 'ld_2'), headers],
    ['signed with a secret that is not ours', CHANGED, signed(CHANGED, { secrets: [OTHER_SECRET] })],
    ['signed five minutes and a second ago', CHANGED, signed(CHANGED, { secondsAgo: 301 })],
    ['under an id that was not signed', CHANGED, { ...headers, 'webhook-id': 'msg_2' }],
    ['without a signature', CHANGED, unsigned],
    ['with two ids', CHANGED, { ...headers, 'webhook-id': ['msg_1', 'msg_1'] }],
    ['that is empty', '', headers],
    ['that cannot be read', '{', headers],
    ['without anything but a type', CHANGED, JSON_TYPE],
  ]

  it('that cannot be verified is refused in the same words whatever is wrong with it, and leaves nothing', async () => {
    const { url, events, queued, outcomes } = await openReceiver()
    for (const [what, body, sent] of UNVERIFIED) {
      const { status, text } = await send(url, body, sent)
      expect(status, what).toBe(401)
      expect(text, what).toBe('This message cannot be verified.\n')
    }
    expect([await events(), await queued()]).toEqual([[], []])
    expect(outcomes).toEqual(UNVERIFIED.map(() => 'refused'))
  })

  it('cannot be told by its answer from one to a receiver that knows no secret', async () => {
    const [known, unknown] = [await openReceiver(), await openReceiver({ secrets: () => [] })]
    const forged = signed(CHANGED, { secrets: [OTHER_SECRET] })
    const [one, other] = [await send(known.url, CHANGED, forged), await send(unknown.url, CHANGED, forged)]
    const shown = ({ status, text, headers: { date: _, ...rest } }: Sent) => [status, text, rest]
    expect(shown(other)).toEqual(shown(one))
    expect(await unknown.events()).toEqual([])
    expect(unknown.lines.join()).toContain('no secret is known')
  })

  it('is taken by the old secret and by the new one while they change, and by the old one no more after', async () => {
    let secrets = [OTHER_SECRET, SECRET]
    const { url, events } = await openReceiver({ secrets: () => secrets })
    const answerTo = async (id: string, by: readonly string[]) =>
      (await send(url, CHANGED, signed(CHANGED, { id, secrets: by }))).status
    expect(await answerTo('msg_old', [SECRET])).toBe(204)
    expect(await answerTo('msg_new', [OTHER_SECRET])).toBe(204)
    expect(await answerTo('msg_both', [OTHER_SECRET, SECRET])).toBe(204)
    secrets = [OTHER_SECRET]
    expect(await answerTo('msg_late', [SECRET])).toBe(401)
    expect(await answerTo('msg_both_late', [SECRET, OTHER_SECRET])).toBe(204)
    expect((await events()).map(({ id }) => id)).toEqual(['msg_both', 'msg_both_late', 'msg_new', 'msg_old'])
  })

  it('that comes twenty times at once, and once more signed at another time, is taken and has one effect', async () => {
    const { url, events, queued } = await openReceiver()
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => send(url, CHANGED, signed(CHANGED))),
    )
    answers.push(await send(url, CHANGED, signed(CHANGED, { secondsAgo: 5 })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
    expect(await events()).toMatchObject([{ id: 'msg_1', repeats: AT_ONCE }])
    expect(await queued()).toMatchObject([{ resource_id: 'ld_1', events: 1 }])
  })

  it('is taken up to 256 kB and refused from the next byte on, whether it tells its length or not', async () => {
    const { url, events } = await openReceiver()
    const [whole, over] = [eventOf(LARGEST), eventOf(LARGEST + 1)]
    expect((await send(url, whole, signed(whole))).status).toBe(204)
    expect((await send(url, over.match(/.{1,40000}/g) ?? [], signed(over))).status).toBe(413)
    for (const length of [LARGEST + 1, 300_000]) {
      const told = { ...signed(over), 'content-length': String(length) }
      expect((await send(url, '', told)).status).toBe(413)
    }
    expect(await events()).toHaveLength(1)
  })

  /** An example says what is unusual of a message: its method, path, body or a header. */
  it('is taken or refused by its type, its encoding, its method, its address and its body', async () => {
    const { url, events, queued } = await openReceiver()
    const known = new Set<string>()
    let sent = 0
    await checkExamples(join(import.meta.dirname, 'golden/messages.txt'), async (input) => {
      const given: Record<string, string> = Object.fromEntries([
        /^(\w\S*): ?(.*)$/.exec(input)?.slice(1) ?? [],
      ])
      const { method = 'POST', path = '/webhooks/leads', body = CHANGED, ...headers } = given
      const whole = body.replace(/^(\d+) levels$/, (_, levels) => nested(Number(levels)))
      const own = { ...signed(whole, { id: `msg_${sent++}` }), ...headers }
      const { status } = await send(new URL(path, url).href, method === 'POST' ? whole : '', own, { method })
      const event = (await events()).find(({ id }) => !known.has(id))
      if (event !== undefined) known.add(event.id)
      return [`${status}${event === undefined ? '' : `, kept as ${event.outcome}: ${event.problem}`}`]
    })
    expect(await queued()).toHaveLength(1)
  })

  it('is to be sent again where too many wait to be written', async () => {
    const { url, outcomes } = await openReceiver({ intake: { take: async () => false } })
    const { status, headers: answered } = await send(url, CHANGED, signed(CHANGED))
    expect([status, answered['retry-after'], outcomes]).toEqual([503, '1', ['busy']])
  })

  it('is not said to be taken where the disk is full', async () => {
    const full = { take: () => Promise.reject(new Error('no space is left')) }
    const { url, lines } = await openReceiver({ intake: full })
    expect((await send(url, CHANGED, signed(CHANGED))).status).toBe(500)
    expect(lines.join()).toContain('no space is left')
  })
})

describe('many messages', () => {
  it('are taken, far more than a stranger may send', async () => {
    const { url, events } = await openReceiver()
    const bodies = Array.from({ length: 130 }, (_, index) => eventBody(`evt_${index}`, `ld_${index}`))
    await inTurns(bodies, async (body, index) => {
      expect((await send(url, body, signed(body, { id: `msg_${index}` }), KEPT)).status).toBe(204)
    })
    expect(await events()).toHaveLength(130)
  })

  it('that are refused are counted by network, told so in one line of the log, and keep out no other', async () => {
    const { url, lines, events } = await openReceiver()
    const from = (address: string) => ({ ...JSON_TYPE, 'x-forwarded-for': address })
    for (let sent = 0; sent < 120; sent++)
      expect((await send(url, CHANGED, from('203.0.113.7'))).status).toBe(401)
    const refused = await send(url, CHANGED, from('203.0.113.7'))
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect((await send(url, CHANGED, from('203.0.113.8'))).status).toBe(401)
    // A verified message is taken all the same, because senders behind one proxy may share an address.
    expect((await send(url, CHANGED, { ...signed(CHANGED), ...from('203.0.113.7') })).status).toBe(204)
    const told = lines.filter((line) => line.includes('was refused'))
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('203.0.113.7')
    expect(told[0]).toContain('webhook-id is missing')
    expect(await events()).toHaveLength(1)
  })

  it('that anybody may send, since nothing is signed, are limited by the events that they hold', async () => {
    const { url, events } = await openReceiver({
      webhook: profileOf({ verify: { scheme: 'none' }, lead: 'lead_id' }),
    })
    const bodyOf = (start: string) =>
      JSON.stringify(Array.from({ length: 100 }, (_, index) => ({ lead_id: `${start}${index}` })))
    const one = '{"lead_id":"one"}'
    const statuses: number[] = []
    for (const body of [...Array<string>(20).fill(one), bodyOf('a'), one])
      statuses.push((await send(url, body, JSON_TYPE)).status)
    expect(statuses).toEqual([...Array(21).fill(204), 429])
    expect(await events()).toHaveLength(101)
  })

  it.each([
    ['standardwebhooks', 'webhook-', new Webhook(SECRET)],
    ['svix', 'svix-', new SvixWebhook(SECRET)],
  ])(`of the package %s are taken, ${BODIES} random ones, SEED=${SEED}`, async (_, prefix, sender) => {
    const { url, events } = await openReceiver({ webhook: standardProfile(prefix) })
    const next = random(SEED)
    const bodies = Array.from({ length: BODIES }, () => randomBody(next))
    await inTurns(bodies, async (body, index) => {
      const id = `msg_${index}`
      const headers = {
        ...JSON_TYPE,
        [`${prefix}id`]: id,
        [`${prefix}timestamp`]: String(RECEIVED_AT.getTime() / 1000),
        [`${prefix}signature`]: sender.sign(id, RECEIVED_AT, body),
      }
      expect((await send(url, body, headers, KEPT)).status).toBe(204)
    })
    expect(await events()).toHaveLength(BODIES)
  })
})

/** Works on a few at a time. */
async function inTurns<T>(
  items: readonly T[],
  act: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const take = async () => {
    for (let index = next++; index < items.length; index = next++) await act(items[index] as T, index)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, take))
}

/** Returns an event or a text with random characters of Unicode. */
function randomBody(next: () => number): string {
  const message = () => String.fromCodePoint(32 + Math.floor(next() ** 4 * 0xd000))
  const text = (length: number) => Array.from({ length: Math.ceil(next() * length) }, message).join('')
  return next() < 0.3
    ? text(200)
    : JSON.stringify({ type: text(20), data: { lead_id: text(20), note: text(400) } })
}
