/** A user takes fields of the upstream over: in filters, attached lists, queries and exports. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { expect, onTestFinished, test } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { runLeadsheet } from '../support/leadsheet.ts'

const DAY_MS = 86_400_000

const PROFILE = `
name: crm
endpoints: { leads: deals, lead: none, stats: none, agents: none, webhooks: none, pipelines: none }
auth: none
paging: { kind: none }
envelope: { leads: items }
mapping: { lead: { id: id, company_name: title, status: stage, score: score, created_at: created, updated_at: created } }
fields:
  deal_size: { from: customFields.Deal Size, type: number, history: true }
  segment: customFields.Segment
  vip: { from: customFields.VIP, type: boolean }
  seen: { from: seen, type: time }
`

const SETTINGS = `
smtp: { url: 'file:./outbox' }
mail: { from: reports@example.com }
api: { profile: profile.yaml }
reports:
  - name: daily
    columns: [deal_size, seen, vip]
    attachments: [top_leads.csv, top_leads.xlsx]
    top_score: 0
    period: week
    filter: { segment: [A] }
    recipients:
      - ana@example.com
      - { address: ben@example.com, filter: { deal_size: { min: 60 }, vip: [true] } }
`

async function openFolder(): Promise<{
  run: (...args: string[]) => ReturnType<typeof runLeadsheet>
  cwd: string
}> {
  const created = new Date(Date.now() - 7 * DAY_MS).toISOString()
  const items = Array.from({ length: 12 }, (_, n) => ({
    id: `d${n}`,
    title: `Deal ${n}`,
    stage: 'new',
    score: n,
    created,
    seen: '2026-11-20T10:00:00Z',
    customFields: { 'Deal Size': n * 10, Segment: n % 2 === 0 ? 'A' : 'B', VIP: n > 8 },
  }))
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ items }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const cwd = folderWith({ 'profile.yaml': PROFILE, 'leadsheet.yaml': SETTINGS })
  const env = { LEADSHEET_API_URL: `http://127.0.0.1:${port}/` }
  return { cwd, run: (...args) => runLeadsheet(args, { cwd, env }) }
}

test('fields of the profile are in filters, attached lists, queries and exports', async () => {
  const { run, cwd } = await openFolder()
  expect(await run('sync')).toMatchObject({ status: 0 })
  expect(await run('report', 'send', 'daily')).toMatchObject({ status: 0 })

  const outbox = join(cwd, 'data/outbox')
  const lists = await Promise.all(
    readdirSync(outbox)
      .sort()
      .map(async (name) => {
        const mail = await PostalMime.parse(readFileSync(join(outbox, name)), { attachmentEncoding: 'utf8' })
        const files = mail.attachments.filter(({ disposition }) => disposition === 'attachment')
        expect(files.map(({ filename }) => filename?.split('.').at(-1))).toEqual(['csv', 'xlsx'])
        const lines = String(files[0]?.content).trim().split(/\r?\n/)
        return lines.map((line) => line.split(',').slice(-4).join())
      }),
  )
  expect(lists).toEqual([
    [
      'Deal size,Seen (UTC),Vip,ID',
      ...[10, 8, 6, 4, 2, 0].map((n) => `${n * 10},2026-11-20 10:00:00,${n > 8 ? 1 : 0},d${n}`),
    ],
    ['Deal size,Seen (UTC),Vip,ID', '100,2026-11-20 10:00:00,1,d10'],
  ])

  const figures = await run('figures', '--where', 'segment=B', '--where', 'deal_size<=30', '--json')
  expect(JSON.parse(figures.stdout).data.figures[0]).toMatchObject({
    name: 'leads',
    values: [{ current: 2 }, { current: 2 }],
  })
  const sql = "SELECT id, deal_size FROM lead_now WHERE segment = 'B' AND deal_size <= 30 ORDER BY id"
  expect((await run('query', sql, '--format', 'csv')).stdout).toBe('id,deal_size\nd1,10\nd3,30\n')
  const { data } = JSON.parse((await run('leads', 'show', 'd9', '--json')).stdout)
  expect(data.fields).toEqual({ deal_size: 90, segment: 'B', vip: 1, seen: '2026-11-20T10:00:00.000Z' })
  expect((await run('leads', 'list', '--limit', '1', '--json')).stdout).toContain('"deal_size"')

  writeFileSync(join(cwd, 'profile.yaml'), `${PROFILE}  tier: customFields.Segment\n`)
  const unread = await run('figures', '--where', 'tier=A')
  expect(unread.stderr).toContain('error: no sync has read the field tier yet')
  expect((await run('sync', '--json')).stdout).toContain(
    'fields of the profile added: tier; read from 12 stored records',
  )
  expect(await run('figures', '--where', 'tier=A')).toMatchObject({ status: 0 })
}, 120_000)

test('a name that the profile does not declare is refused at its place', async () => {
  const { run, cwd } = await openFolder()
  const edited = SETTINGS.replace('segment: [A]', 'segmnt: [A]')
    .replace('vip]', 'wip]')
    .replace('[true]', '{ min: 1 }')
  writeFileSync(join(cwd, 'leadsheet.yaml'), edited)
  const { status, stderr } = await run('sync')
  expect(status).not.toBe(0)
  expect(stderr.split('\n').filter((line) => line.startsWith('  '))).toEqual([
    '  leadsheet.yaml:11:15  reports[0].filter.segmnt: no column of leads, and no field of the profile; did you mean segment?',
    '  leadsheet.yaml:14:71  reports[0].recipients[1].filter.vip: expected a list of texts, as its type in the profile is boolean',
    '  leadsheet.yaml:7:14  reports[0].columns: the profile declares no field "wip"',
  ])
})
