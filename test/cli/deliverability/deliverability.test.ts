/** The doctor judges the records of a domain, asked of a DNS server on this machine, and the size of mails. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CheckResult } from '../../../src/checks/check.ts'
import { checkDeliverability, checkSizes } from '../../../src/cli/deliverability/deliverability.ts'
import { createAskDns } from '../../../src/cli/deliverability/spf.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { dnsRecordOf } from '../../../src/mail/message.ts'
import { enqueueMessage } from '../../../src/store/outbox/delivery.ts'
import { folderWith } from '../../support/folder.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { MESSAGE, saveBlankIssue } from '../../support/mail/message.ts'
import { type DnsRecord, openDnsServer, parseRecord } from '../../support/network/dns-server.ts'
import { checkExamples } from '../../support/process/transcript.ts'
import { openEmptyStore } from '../../support/store.ts'

const GOLDEN = join(import.meta.dirname, 'golden')
const KEY = { ...DKIM_KEY, domain: 'acme.test' }
const LONG_MS = 60_000

/** The records that providers have in the DNS, shortened. */
const PROVIDERS = `
spf.protection.outlook.com TXT "v=spf1 ip4:40.92.0.0/15 ip4:52.100.0.0/14 -all"
_spf.google.com TXT "v=spf1 include:_netblocks.google.com ~all"
_netblocks.google.com TXT "v=spf1 ip4:74.125.0.0/16 ~all"
amazonses.com TXT "v=spf1 ip4:199.255.192.0/22 -all"
ten.test TXT "v=spf1 include:a.ten.test include:b.ten.test include:c.ten.test include:d.ten.test include:e.ten.test -all"
a.ten.test TXT "v=spf1 include:aa.ten.test -all"
b.ten.test TXT "v=spf1 include:aa.ten.test -all"
c.ten.test TXT "v=spf1 include:aa.ten.test -all"
d.ten.test TXT "v=spf1 include:aa.ten.test -all"
e.ten.test TXT "v=spf1 ip4:198.51.100.0/24 -all"
aa.ten.test TXT "v=spf1 ip4:198.51.100.0/24 -all"
loop.test TXT "v=spf1 include:back.loop.test -all"
back.loop.test TXT "v=spf1 include:loop.test -all"
two.test TXT "v=spf1 -all"
two.test TXT "v=spf1 mx -all"
broken.test SERVFAIL
silent.test SILENT
`
const LOGIN = '{ token_url: "https://login.acme.test/token", client_id: c, client_secret: s }'

let records: readonly DnsRecord[] = []
let dns: Awaited<ReturnType<typeof openDnsServer>>
beforeAll(async () => {
  dns = await openDnsServer(() => records)
})
afterAll(() => dns[Symbol.asyncDispose]())

/** @param mail the settings of mail in one line; `KEY` stands for a key of acme.test, `LOGIN` for a login */
function configOf(mail: string) {
  const key = `{ domain: acme.test, selector: leadsheet, key: ${JSON.stringify(KEY.privateKey)} }`
  const settings = `mail: { ${mail.replace('KEY', () => key).replace('LOGIN', LOGIN)} }\n`
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': settings }), env: {} })
}

function lineOf({ status, what, found, remedy }: CheckResult): string {
  return `${status} ${what}: ${found}${remedy === null ? '' : ` -> ${remedy}`}`
}

/** The records of `RECORD` and the results, with the key of the test by that name. */
const PUBLIC_KEY = dnsRecordOf(KEY).text

/** An example has a sentence, the settings of mail, and the records of the DNS. */
it(
  'says of each record whether it lets receivers trust the mails, and the record to publish',
  () =>
    checkExamples(join(GOLDEN, 'records.txt'), async (input) => {
      const [, mail = '', ...lines] = input.split('\n')
      const pieces = PUBLIC_KEY.match(/.{1,255}/g)?.map((piece) => `"${piece}"`) ?? []
      const own = lines.map((line) => line.replace('PUBLIC_KEY', pieces.join(' ')))
      records = [...own, ...PROVIDERS.trim().split('\n')].map(parseRecord)
      const isSlow = input.includes('silent.test')
      const ask = createAskDns([dns.server], isSlow ? 400 : LONG_MS)
      const results = await Array.fromAsync(checkDeliverability(configOf(mail), ask))
      return results.map((each) => lineOf(each).replaceAll(PUBLIC_KEY, 'PUBLIC_KEY'))
    }),
  LONG_MS,
)

it('asks nothing without a mail server', async () => {
  records = []
  dns.asked.length = 0
  for (const mail of ['from: reports@acme.test', 'url: "file:./outbox", from: reports@acme.test, dkim: KEY'])
    expect(await Array.fromAsync(checkDeliverability(configOf(mail), createAskDns([dns.server])))).toEqual([])
  expect(dns.asked).toEqual([])
})

/** An example is what `mail.url` names, and the kB of the HTML and of a file of each message. */
it('says how large the last mails are, and warns of those that Gmail cuts or that are too large to be sent', () =>
  checkExamples(join(GOLDEN, 'sizes.txt'), async (input) => {
    const [mail = '', ...mails] = input.split('\n')
    await using store = await openEmptyStore()
    await store.write(async (trx) => {
      await saveBlankIssue(trx, 'daily', MESSAGE.date)
      for (const [index, line] of mails.entries()) {
        const [html = 0, file = 0] = line.split(' ').map((kB) => Number(kB) * 1_000)
        const content = new Uint8Array(file)
        const files = [{ name: 'leads.csv', contentType: 'text/csv', content, cid: null }]
        const message = { ...MESSAGE, html: 'x'.repeat(html), files, messageId: `<${index}@acme.test>` }
        await enqueueMessage(trx, 'daily', { ...message, to: `${index}@acme.test` }, MESSAGE.date)
      }
    })
    return (await Array.fromAsync(checkSizes(store.db, configOf(mail)))).map(lineOf)
  }))
