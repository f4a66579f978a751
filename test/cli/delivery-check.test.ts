import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import type { FindRecords } from '../../src/cli/installation-checks.ts'
import { checkSignature, checkUnsubscribe } from '../../src/cli/installation-checks.ts'
import { loadConfig } from '../../src/config/load.ts'
import { dnsRecordOf } from '../../src/mail/message.ts'
import { folderWith } from '../support/folder.ts'
import { DKIM_KEY } from '../support/mail/dkim.ts'

const NAME = 'leadsheet._domainkey.example.com'
const { text } = dnsRecordOf(DKIM_KEY)
const other = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})

const withRecords =
  (...records: string[][]): FindRecords =>
  async (name) =>
    name === NAME ? records : []
const failing =
  (code: string): FindRecords =>
  () =>
    Promise.reject(Object.assign(new Error(`query ${code}`), { code }))

it.each<[string, FindRecords]>([
  ['as it is', withRecords([text])],
  ['in pieces, as the DNS has long texts', withRecords([text.slice(0, 200), text.slice(200)])],
  ['written otherwise, beside another record', withRecords(['v=spf1 -all'], [text.replace('; p=', ';p = ')])],
])('the key of the settings is found in the DNS %s', async (_how, findRecords) => {
  expect(await checkSignature(DKIM_KEY, findRecords)).toMatchObject({
    status: 'ok',
    found: `${NAME} has the key`,
  })
})

it.each<[string, FindRecords, string]>([
  ['nothing', failing('ENOTFOUND'), `the DNS has nothing at ${NAME}`],
  ['a revoked key', withRecords(['v=DKIM1; p=']), `${NAME} has another key than mail.dkim`],
  [
    'another key',
    withRecords([dnsRecordOf({ ...DKIM_KEY, privateKey: other.toString() }).text]),
    `${NAME} has another key than mail.dkim`,
  ],
])('where the DNS has %s, the record to publish is told', async (_what, findRecords, found) => {
  const remedy = `give the DNS this TXT record at ${NAME}: ${text}`
  expect(await checkSignature(DKIM_KEY, findRecords)).toMatchObject({ status: 'fail', found, remedy })
})

it('a DNS that does not answer is no proof of anything', async () => {
  expect(await checkSignature(DKIM_KEY, failing('ECONNREFUSED'))).toMatchObject({ status: 'warn' })
})

it.each([
  [
    'mail: { reply_to: stop@example.com }',
    'ok',
    'by a mail to stop@example.com; web.public_url would give a link',
  ],
  [
    'web: { public_url: https://reports.example.com/ }',
    'ok',
    'at https://reports.example.com, which has to lead to 127.0.0.1:8080; the mail server has to sign the mails for its button',
  ],
  [
    'web: { public_url: "http://localhost:8080" }',
    'warn',
    'http://localhost:8080 is only for this machine, so that mail programs show no button for it',
  ],
])('the way out of a report is told of %s', (yaml, status, found) => {
  const config = loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env: {} })
  expect(checkUnsubscribe(config)).toMatchObject({ what: 'unsubscribing', status, found })
})
