/** An alert in the format of each kind of webhook. */
import { describe, expect, it } from 'vitest'
import type { AlertLine, AlertMessage } from '../../../src/jobs/alerts/alert-message.ts'
import { composeWebhook } from '../../../src/jobs/alerts/alert-webhook.ts'
import { heartbeatUrl } from '../../../src/jobs/alerts/heartbeat-ping.ts'

function line(id: number, change: Partial<AlertLine> = {}): AlertLine {
  return {
    id,
    check: 'sync_failing',
    title: 'sync failing',
    subject: '',
    message: 'The last 4 syncs failed.',
    hint: 'Look at `leadsheet status`.',
    since: '2026-11-21T06:00:00.000Z',
    until: null,
    ...change,
  }
}

const MESSAGE: AlertMessage = {
  subject: '1 alert: sync failing',
  made_at: '2026-11-21T06:05:00.000Z',
  place: 'db1, /var/lib/leadsheet',
  opened: [line(7)],
  reminded: [],
  resolved: [line(3, { until: '2026-11-21T06:04:00.000Z' })],
  open: 1,
}

describe('as json', () => {
  it('has all that is known', () => {
    expect(JSON.parse(composeWebhook(MESSAGE, 'json'))).toEqual({ event: 'leadsheet.alerts', ...MESSAGE })
  })
})

describe('as slack', () => {
  it('has what Slack shows, with a text for where it shows no blocks', () => {
    const { text, blocks } = JSON.parse(composeWebhook(MESSAGE, 'slack'))
    expect(text).toBe('leadsheet: 1 alert: sync failing')
    const texts = blocks.map((block: { text: { type: string; text: string } }) => block.text.text)
    expect(texts).toEqual([
      '*leadsheet: 1 alert: sync failing*\ndb1, /var/lib/leadsheet',
      '*New alert*',
      '*sync failing (#7)*\nThe last 4 syncs failed.\nLook at `leadsheet status`.',
      '*Resolved*',
      '*sync failing (#3)*\nFrom 2026-11-21 06:00 UTC to 2026-11-21 06:04 UTC. It was: The last 4 syncs failed.',
    ])
  })

  it('takes no words of an upstream for a mention', () => {
    const json = composeWebhook({ ...MESSAGE, opened: [line(1, { message: '<!channel> & <@U1>' })] }, 'slack')
    expect(json).toContain('&lt;!channel&gt; &amp; &lt;@U1&gt;')
    expect(json).not.toContain('<!')
  })

  it('stays below its limits however much there is', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => line(n, { message: 'x'.repeat(5000) }))
    const { blocks } = JSON.parse(composeWebhook({ ...MESSAGE, opened: many, reminded: many }, 'slack'))
    expect(blocks.length).toBeLessThanOrEqual(50)
    for (const { text } of blocks) expect(text.text.length).toBeLessThan(3000)
    expect(JSON.stringify(blocks)).toContain('and 9,990 more: npx leadsheet alerts list')
  })
})

describe('as teams', () => {
  it('is an adaptive card', () => {
    const { type, attachments } = JSON.parse(composeWebhook(MESSAGE, 'teams'))
    expect(type).toBe('message')
    expect(attachments[0].contentType).toBe('application/vnd.microsoft.card.adaptive')
    const { body, ...card } = attachments[0].content
    expect(card).toMatchObject({ type: 'AdaptiveCard', version: '1.4' })
    expect(body.map(({ text }: { text: string }) => text).slice(0, 4)).toEqual([
      'leadsheet: 1 alert: sync failing',
      'db1, /var/lib/leadsheet',
      'New alert',
      'sync failing \\(\\#7\\)',
    ])
  })

  it('takes no words of an upstream for a link, and stays below its limits', () => {
    const many = Array.from({ length: 1000 }, (_, n) =>
      line(n, { message: `[click](https://evil.example) ${'x'.repeat(5000)}` }),
    )
    const json = composeWebhook({ ...MESSAGE, opened: many, reminded: many, resolved: many }, 'teams')
    expect(json).not.toContain('[click](')
    expect(Buffer.byteLength(json)).toBeLessThan(28_000)
  })
})

describe('the address of a ping', () => {
  it('has its signal in the path and the run as a UUID', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    const [start, end, other] = [
      heartbeatUrl('https://hc-ping.com/u1', 'start', 'run-1'),
      heartbeatUrl('https://hc-ping.com/u1/', 'success', 'run-1'),
      heartbeatUrl('https://status.example.com/push?key=1', 'fail', 'run-2'),
    ] as const
    expect(start.pathname).toBe('/u1/start')
    expect(end.pathname).toBe('/u1')
    expect(other.pathname).toBe('/push/fail')
    expect(other.searchParams.get('key')).toBe('1')
    expect(start.searchParams.get('rid')).toMatch(uuid)
    expect(end.searchParams.get('rid')).toBe(start.searchParams.get('rid'))
    expect(other.searchParams.get('rid')).not.toBe(start.searchParams.get('rid'))
  })
})
