// @long
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { folderOnDisk, folderWith } from '../../../support/folder.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { CONTACTS } from '../../../support/source/contacts.ts'
import { KEY, startForeign } from '../../../support/source/foreign.ts'

test('probe, sync, doctor: an unknown upstream is read with nothing written by hand', async () => {
  await using foreign = await startForeign(CONTACTS)
  const cwd = folderOnDisk({ key: KEY })
  const env = {
    LEADSHEET_API_URL: `${foreign.url}/crm`,
    LEADSHEET_API_KEY_FILE: 'key',
    LEADSHEET_WEB_LISTEN: 'none',
    LEADSHEET_API_PROFILE: 'profile.yaml',
    LEADSHEET_MAIL_URL: 'file:outbox',
  }
  const known = {
    NODE: `${process.versions.node}, zone data ${process.versions['tz']}`,
    TODAY: new Date().toISOString().slice(0, 10),
    URL: env.LEADSHEET_API_URL,
  }
  const text = await checkTranscript(join(import.meta.dirname, 'golden/probe.txt'), { cwd, env }, known)
  expect(text).not.toContain(KEY)
})

test('an upstream with two headers that dies half-way is written down as far as it was seen, with status 3', async () => {
  await using foreign = await startForeign({
    ...CONTACTS,
    lets: ({ headers }) => headers['x-key'] === `Api ${KEY}` && headers['x-app'] === 'a7',
    first: (_, url) => (url.searchParams.has('updated_since') ? 'crash' : null),
  })
  const cwd = folderWith({ key: KEY })
  const probe = (...args: string[]) =>
    runWarm(['probe', `${foreign.url}/crm/contacts`, '--key-file', 'key', '--header', 'X-App: a7', ...args], {
      cwd,
    })
  const wrong = await probe('--auth', 'X-Key: Api')
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('--auth: found no {key}')])
  const { status, stdout } = await probe('--auth', 'X-Key: Api {key}', '-o', 'profile.yaml')
  expect(status).toBe(3)
  expect(stdout).toMatch(/filters: the probe ended here, .*failed after 2 attempts/)
  const written = readFileSync(join(cwd, 'profile.yaml'), 'utf8')
  expect(parse(written)).toMatchObject({
    auth: { header: 'X-Key', value: 'Api {key}', headers: { 'X-App': 'a7' } },
    paging: { kind: 'page', param: 'page' },
  })
  await using back = await startForeign(CONTACTS)
  const moved = written
    .replaceAll(foreign.url, back.url)
    .replace(/^auth:\n( .*\n)+/m, "auth: { header: x-api-key, value: '{key}' }\n")
  writeFileSync(join(cwd, 'profile.yaml'), moved)
  const url = `${back.url}/crm/contacts`
  const args = ['probe', url, '--key-file', 'key', '--name', 'crm', '-o', 'profile.yaml']
  const on = await runWarm(args, { cwd })
  expect([on.status, on.stdout]).toEqual([0, expect.stringContaining('filters.updated_since')])
  expect(back.requests.filter((request) => request.includes('page=2'))).toEqual([])
  expect(parse(readFileSync(join(cwd, 'profile.yaml'), 'utf8'))).toMatchObject({ name: 'crm' })
  expect((await runWarm(args, { cwd })).stderr).toContain('profile.yaml is there already')
})
