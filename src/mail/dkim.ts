/**
 * Signs messages with DKIM (RFC 6376). The signature proves the sender, and that nobody changed the message.
 * It is deterministic: it contains no time, and RSA always signs the same bytes in the same way.
 */
import { createPublicKey } from 'node:crypto'

export interface DkimKey {
  /** The domain that signs. Its DNS contains the public key under `<selector>._domainkey`. */
  readonly domain: string
  readonly selector: string
  /** The private RSA key in PEM format. */
  readonly privateKey: string
}

/**
 * The header fields to sign: all that matter to a person or a program. Fields that a message does not have
 * are skipped.
 */
export const SIGNED_FIELDS = [
  'From',
  'To',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Language',
  'Auto-Submitted',
  'List-Id',
  'List-Unsubscribe',
  // One-click unsubscribing works only if both of these fields are signed (RFC 8058, 4).
  'List-Unsubscribe-Post',
] as const

/** Returns the DNS record that receivers need to verify the signatures (RFC 6376, 3.6.2). */
export function dnsRecordOf({ domain, selector, privateKey }: DkimKey): { name: string; text: string } {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  return { name: `${selector}._domainkey.${domain}`, text: `v=DKIM1; k=rsa; p=${publicKey}` }
}

/**
 * Signs a message.
 * @throws Error if the key cannot sign, which the settings prevent
 */
export async function sign(message: Buffer, { domain, selector, privateKey }: DkimKey): Promise<Buffer> {
  const { default: DKIM } = await import('nodemailer/lib/dkim')
  const signer = new DKIM({
    domainName: domain,
    keySelector: selector,
    privateKey,
    headerFieldNames: SIGNED_FIELDS.join(':'),
  })
  const signed = Buffer.concat(await signer.sign(message).toArray())
  // The signer returns the message unsigned, without an error, if its key cannot be used.
  if (signed.length === message.length) throw new Error(`the DKIM key of ${domain} does not sign`)
  return signed
}
