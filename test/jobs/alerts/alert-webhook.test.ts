/** An alert in the format of each kind of webhook. */
import { expect, it } from 'vitest'
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

it.each([
  ['slack', '<!channel> & <@U1>', /<!|<@/, 40_000, 'and 9,990 more: npx leadsheet alerts list'],
  ['teams', '[click](https://evil.example)', /\[click\]\(/, 28_000, 'more'],
] as const)(
  'as %s takes no words of an upstream for a mention or a link, and stays below its limits',
  (format, words, evil, most, rest) => {
    const many = Array.from({ length: 10_000 }, (_, n) =>
      line(n, { message: `${words} ${'x'.repeat(5000)}` }),
    )
    const json = composeWebhook({ ...MESSAGE, opened: many, reminded: many, resolved: many }, format)
    expect(json).not.toMatch(evil)
    expect(Buffer.byteLength(json)).toBeLessThan(most)
    expect(json).toContain(rest)
  },
)

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
