/** A user takes fields of the upstream over: in filters, attached lists, queries and exports. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { openHttpServer } from '../support/network/http-server.ts'
import { clockStandingAt } from '../support/process/shifted-clock.ts'
import { checkTranscript } from '../support/process/transcript.ts'

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
mail: { url: 'file:./outbox', from: reports@example.com }
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

/** Twelve deals, of which every other is of the segment A. */
const ITEMS = Array.from({ length: 12 }, (_, n) => ({
  id: `d${n}`,
  title: `Deal ${n}`,
  stage: 'new',
  score: n,
  created: '2026-11-14T12:00:00Z',
  seen: '2026-11-20T10:00:00Z',
  customFields: { 'Deal Size': n * 10, Segment: n % 2 === 0 ? 'A' : 'B', VIP: n > 8 },
}))

/** Settings with names and values that the profile does not have. */
const WRONG = SETTINGS.replace('segment: [A]', 'segmnt: [A]')
  .replace('vip]', 'wip]')
  .replace('[true]', '{ min: 1 }')

test('fields of the profile are in filters, attached lists, queries and exports; a name that it does not declare is refused at its place', async () => {
  await using upstream = await openHttpServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items: ITEMS }))
  })
  const cwd = folderWith({
    'profile.yaml': PROFILE,
    'leadsheet.yaml': SETTINGS,
    'wrong.yaml': WRONG,
    'small.sql': "SELECT id, deal_size FROM lead_now WHERE segment = 'B' AND deal_size <= 30 ORDER BY id",
  })
  const env = { ...clockStandingAt('2026-11-21T12:00:00Z'), LEADSHEET_API_URL: `${upstream.url}/` }
  await checkTranscript(join(import.meta.dirname, 'golden/declared-fields.txt'), { cwd, env })
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
})
