/** A DKIM key pair, and the check of a receiving mail server that finds the public key in the DNS. */
import { generateKeyPairSync } from 'node:crypto'
import { authenticate } from 'mailauth'
import { type DkimKey, dnsRecordOf } from '../../../src/mail/message.ts'

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

export const DKIM_KEY: DkimKey = { domain: 'example.com', selector: 'leadsheet', privateKey }

const DNS: Readonly<Record<string, string>> = {
  [dnsRecordOf(DKIM_KEY).name]: dnsRecordOf(DKIM_KEY).text,
  '_dmarc.example.com': 'v=DMARC1; p=reject; adkim=s',
}

/** Returns the result of each signature, such as `pass` or `fail`, and that of DMARC. */
export async function verify(raw: Buffer) {
  const { dkim, dmarc } = await authenticate(raw, {
    sender: 'reports@example.com',
    ip: '192.0.2.1',
    helo: 'mail.example.com',
    mta: 'mx.example.org',
    resolver: async (name, type) => {
      const record = DNS[name]
      if (type === 'TXT' && record !== undefined) return [[record]]
      throw Object.assign(new Error(`${name} has no ${type}`), { code: 'ENOTFOUND' })
    },
  })
  return {
    dkim: dkim.results.map(({ status }) => status.result),
    dmarc: dmarc ? dmarc.status.result : null,
  }
}
