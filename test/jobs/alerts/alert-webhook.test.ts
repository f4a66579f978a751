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

it.each(['json', 'slack', 'teams'] as const)('has the whole message as %s', async (format) => {
  const body = JSON.stringify(JSON.parse(composeWebhook(MESSAGE, format)), null, 2)
  await expect(`${body}\n`).toMatchFileSnapshot(`golden/alert-${format}.json`)
})

describe('as slack', () => {
  it('takes no words of an upstream for a mention', () => {
    const json = composeWebhook({ ...MESSAGE, opened: [line(1, { message: '<!channel> & <@U1>' })] }, 'slack')
    expect(json).toContain('&lt;!channel&gt; &amp; &lt;@U1&gt;')
    expect(json).not.toContain('<!')
  })

  it('stays below its limits however much there is', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => line(n, { message: 'x'.repeat(5000) }))
    const { text } = JSON.parse(composeWebhook({ ...MESSAGE, opened: many, reminded: many }, 'slack'))
    expect(text.length).toBeLessThan(40_000)
    expect(text).toContain('and 9,990 more: npx leadsheet alerts list')
  })
})

it('as teams takes no words of an upstream for a link, and stays below its limits', () => {
  const many = Array.from({ length: 1000 }, (_, n) =>
    line(n, { message: `[click](https://evil.example) ${'x'.repeat(5000)}` }),
  )
  const json = composeWebhook({ ...MESSAGE, opened: many, reminded: many, resolved: many }, 'teams')
  expect(json).not.toContain('[click](')
  expect(Buffer.byteLength(json)).toBeLessThan(28_000)
})

it('the address of a ping has its signal in the path', () => {
  const urls = [
    heartbeatUrl('https://hc-ping.com/u1', 'start'),
    heartbeatUrl('https://hc-ping.com/u1/', 'success'),
    heartbeatUrl('https://status.example.com/push?key=1', 'fail'),
  ]
  expect(urls.map(String)).toEqual([
    'https://hc-ping.com/u1/start',
    'https://hc-ping.com/u1',
    'https://status.example.com/push/fail?key=1',
  ])
})
