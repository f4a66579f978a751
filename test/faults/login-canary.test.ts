// @long
/** An installation with a login by OAuth, whose servers quote its secrets. Only its file of tokens has them. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openWithLogin } from '../login/support/installation.ts'
import { finished, runScript, startLeadsheet } from '../support/leadsheet.ts'
import { CANARIES, canariesBelow, canariesIn, filesBelow, quotedForms } from '../support/mail/canaries.ts'
import { type TokenAnswer, tokenAnswer } from '../support/network/token-server.ts'
import { untilSaid } from '../support/process/daemon-address.ts'
import type { Fault } from '../support/upstream.ts'

const { access, refresh, client, second } = CANARIES
/** A message quotes no more than some hundred signs, so each has the forms of one secret. */
const QUOTED = [access, refresh, client, second].map(quotedForms)

const PROFILE = `
name: leads
auth: { headers: { X-Second: "{secret}" } }
paging: { kind: cursor, param: cursor, next: page.next_cursor }
envelope: { leads: data }
mapping: { lead: { id: id, status: status, updated_at: updated_at, created_at: created_at } }
`
const SETTINGS = `  profile: p.yaml
  secret_file: second
data_dir: data
log_level: debug
mail: { url: "file:./outbox", from: reports@example.com }
recipients: [ana@example.com]
`
const COMMANDS = [
  'sync --json',
  'doctor --json',
  'probe',
  'leads show x --remote',
  'status --json',
  'config check --json',
]

it('no token and no secret of a login is in what the program says and leaves behind', async () => {
  await using installation = await openWithLogin({
    leads: 20,
    settings: SETTINGS,
    files: { 'p.yaml': PROFILE, s: client, r: `first-${refresh}`, second },
  })
  const { server, upstream, cwd } = installation
  upstream.allows = () => true
  const token = tokenAnswer(200, { access_token: access, refresh_token: refresh, expires_in: 3600 })
  // Each lead has the token in it, as of an upstream that answers with what it was sent.
  for (const number of Array(20).keys()) upstream.put(number, { company: { name: `by ${access}` } } as never)
  const several = join(import.meta.dirname, '../support/process/several-commands.ts')
  const env = { LEADSHEET_CONFIG: 'leadsheet.yaml' }

  server.answers.push(token)
  const well = ['snapshot', 'db backup data/backup.db', 'report send daily --now']
  const first = await runScript([several, ...COMMANDS, ...well], { cwd, env })
  expect(upstream.requests[0]?.headers).toMatchObject({
    authorization: `Bearer ${access}`,
    'x-second': second,
  })
  let turn = 0
  const quoted = () => QUOTED[turn++ % QUOTED.length]
  const refuse: Fault = (_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: `not let in: ${quoted()}` }))
    return true
  }
  upstream.faults.push(...Array<Fault>(100).fill(refuse))
  const deny: TokenAnswer = (asked, response) =>
    tokenAnswer(400, { error: 'invalid_grant', error_description: `not given: ${quoted()}` })(asked, response)
  server.answers.push(...Array.from({ length: 100 }, (_, index) => (index === 1 ? token : deny)))
  const ill = await runScript([several, ...COMMANDS], { cwd, env })
  const said: Record<string, string> = { well: first.stdout + first.stderr, ill: ill.stdout + ill.stderr }
  // This proves that both servers have quoted the secrets.
  expect(said['ill']).toMatch(/not let in: \[redacted\]/)
  expect(said['ill']).toMatch(/not given: \[redacted\]/)

  const daemon = startLeadsheet(['run'], { cwd, env })
  const ended = finished(daemon)
  await untilSaid(daemon.stderr, /not (let in|given): \[redacted\]/)
  daemon.kill('SIGTERM')
  said['daemon'] = (await ended).stderr

  const found = Object.entries(said).flatMap(([where, text]) =>
    canariesIn(Buffer.from(text)).map((what) => `${where}: ${what}`),
  )
  expect([...found, ...canariesBelow(join(cwd, 'data'))]).toEqual([
    'tokens.db: access plain',
    'tokens.db: refresh plain',
  ])
  expect(statSync(join(cwd, 'data/tokens.db')).mode & 0o777).toBe(0o600)
  expect(filesBelow(join(cwd, 'data'))).toEqual(
    expect.arrayContaining(['leadsheet.db', 'snapshot.db', 'backup.db', 'tokens.db']),
  )
})
