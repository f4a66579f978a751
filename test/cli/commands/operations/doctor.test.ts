import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { folderWith } from '../../../support/folder.ts'
import { runLeadsheet } from '../../../support/leadsheet.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../../../support/mail/certificate.ts'
import { openMailServer } from '../../../support/mail-server.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { STORE_VERSIONS } from '../../../support/store.ts'
import { startUpstream, status as withStatus } from '../../../support/upstream.ts'

const answerSchema = z.object({
  checks: z.array(
    z.object({ what: z.string(), status: z.string(), found: z.string(), remedy: z.string().nullable() }),
  ),
})

/** Returns a folder with a synced store, and the doctor's checks of the store. */
async function openSynced() {
  const upstream = await startUpstream(12)
  const cwd = folderWith()
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }
  const first = await runWarm(['sync', '--only', 'leads'], { cwd, env })
  expect(first.status, first.stderr).toBe(0)
  const file = join(cwd, 'data/leadsheet.db')
  return {
    file,
    exec(statements: string): void {
      const database = new Database(file)
      database.unsafeMode()
      database.exec(statements)
      database.close()
    },
    async diagnose() {
      const { stdout } = await runWarm(['doctor', '--json'], { cwd, env })
      const { checks } = answerSchema.parse(JSON.parse(stdout).data)
      return checks.filter(({ what }) => ['database', 'consistency', 'snapshot'].includes(what))
    },
    async checkFolder() {
      const { stdout } = await runWarm(['doctor', '--json'], { cwd, env })
      return answerSchema.parse(JSON.parse(stdout).data).checks.find(({ what }) => what === 'data directory')
    },
    [Symbol.asyncDispose]: upstream[Symbol.asyncDispose],
  }
}

test('doctor warns of a database that everybody on the machine can read', async () => {
  await using synced = await openSynced()
  expect((await synced.checkFolder())?.found).not.toContain('every user')
  chmodSync(synced.file, 0o644)
  expect(await synced.checkFolder()).toMatchObject({
    status: 'warn',
    found: expect.stringContaining('every user of this machine can read'),
    remedy: expect.stringContaining(`chmod 600 ${synced.file}`),
  })
})

test('an upstream that cannot be asked has one row, and no good one', async () => {
  await using upstream = await startUpstream(1)
  const cwd = folderWith()
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }
  const first = await runWarm(['sync', '--only', 'leads'], { cwd, env })
  expect(first.status, first.stderr).toBe(0)
  // No header can carry this key, so nothing is asked.
  const unsendable = { ...env, LEADSHEET_API_KEY: 'test\u2013key' }
  const { stdout } = await runWarm(['doctor', '--json'], { cwd, env: unsendable })
  const { checks } = answerSchema.parse(JSON.parse(stdout).data)
  expect(checks.filter(({ what }) => what === 'upstream').map(({ status }) => status)).toEqual(['fail'])
})

test('doctor has a line for each mistake in the settings, and says that it looked at nothing else', async () => {
  const cwd = folderWith({ 'leadsheet.yaml': 'time_zone: Berlin\nlog: x\n' })
  const { status, stdout } = await runWarm(['doctor'], { cwd })
  expect(status).toBe(1)
  expect(stdout.trimEnd().split('\n')).toEqual([
    'fail  settings        2 mistakes in the settings:',
    expect.stringMatching(/^ {24}leadsheet\.yaml:1:12 {2}time_zone: found "Berlin"/),
    expect.stringMatching(/^ {24}leadsheet\.yaml:2:1 {2}log: no such setting/),
    `${' '.repeat(22)}The other checks need the settings.`,
    expect.stringMatching(/^ {22}\/.*\/leadsheet\.example\.yaml shows every setting\.$/),
  ])
})

test('doctor names the files of what it tried, and does not advise itself', async () => {
  await using upstream = await startUpstream(1)
  const settings = `api: { url: "${upstream.url}", key_file: secrets/key }\nsmtp: { url_file: secrets/smtp }\n`
  const key = 'wrong-key'
  const files = { 'leadsheet.yaml': settings, 'secrets/key': key, 'secrets/smtp': 'smtp://127.0.0.1:9' }
  const cwd = folderWith(files)
  upstream.faults.push(...Array.from({ length: 9 }, () => withStatus(401)))
  const { stdout } = await runWarm(['doctor', '--json'], { cwd })
  const { checks } = answerSchema.parse(JSON.parse(stdout).data)
  const remedyOf = (name: string) => checks.find(({ what }) => what === name)?.remedy
  expect(remedyOf('list of leads')).toBe(
    `Check api.key (from ${cwd}/secrets/key), and how the profile sends it (auth).`,
  )
  expect(remedyOf('mail')).toBe(
    `Nothing was delivered; it can be tried again. If it keeps failing, check smtp.url (from ${cwd}/secrets/smtp).`,
  )
})

test('doctor names each rule that is broken, how often and where, with the remedy', async () => {
  await using synced = await openSynced()
  synced.exec(
    `${STORE_VERSIONS}; UPDATE lead SET status = 'other' WHERE no <= 5; INSERT INTO sync_scan_page VALUES (0, 1, '[]')`,
  )
  const broken = (await synced.diagnose()).filter(({ status }) => status === 'fail')
  expect(broken).toMatchObject([
    { found: 'pages that were read belong to a scan that is under way: not so for 1, such as 0' },
    {
      found: expect.stringMatching(
        /^the open version says what the lead is: not so for 5, such as \w+, \w+, \w+$/,
      ),
    },
  ])
  for (const { remedy } of broken) expect(remedy).toContain('report it')
})

test('doctor tells of a damaged file, and how to restore', async () => {
  await using synced = await openSynced()
  synced.exec(
    `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'created_at', 'updated_at') WHERE name = 'lead_by_creation'`,
  )
  expect((await synced.diagnose()).find(({ status }) => status === 'fail')).toMatchObject({
    what: 'consistency',
    status: 'fail',
    found: expect.stringMatching(/^the file is intact: not so/),
    remedy: expect.stringContaining('leadsheet db restore'),
  })
  writeFileSync(synced.file, 'no database')
  expect(await synced.diagnose()).toMatchObject([
    { what: 'database', status: 'fail', remedy: expect.stringContaining('leadsheet db restore') },
  ])
})

test('doctor takes the certificate of a mail server from an authority of one’s own only where it is told of it', async () => {
  const cwd = folderWith({ 'own-ca.pem': CERTIFICATE })
  const logins: (string | undefined)[] = []
  await using server = await openMailServer({
    disabledCommands: [],
    key: CERTIFICATE_KEY,
    cert: CERTIFICATE,
    onAuth: ({ username }, _session, done) => {
      logins.push(username)
      done(null, { user: username ?? '' })
    },
  })
  const checkMail = async (env: Readonly<Record<string, string>>) => {
    const url = server.url.replace('//127.0.0.1', '//dana:hunter22@0.0.0.0')
    const { stdout } = await runLeadsheet(['doctor', '--json'], {
      cwd,
      env: { LEADSHEET_API_URL: 'http://127.0.0.1:9/', LEADSHEET_SMTP_URL: url, ...env },
    })
    return answerSchema.parse(JSON.parse(stdout).data).checks.find(({ what }) => what === 'mail')
  }
  expect(await checkMail({})).toMatchObject({
    status: 'fail',
    found: expect.stringContaining('certificate'),
  })
  expect(logins).toEqual([])
  expect(await checkMail({ NODE_EXTRA_CA_CERTS: join(cwd, 'own-ca.pem') })).toMatchObject({ status: 'ok' })
  expect(logins).toEqual(['dana'])
})
