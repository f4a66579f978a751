/**
 * Signs messages with DKIM (RFC 6376), which proves their sender and that nobody changed them. The signature
 * is deterministic: it holds no time, and RSA signs the same bytes in the same way.
 */
import { createPublicKey } from 'node:crypto'
import DKIM from 'nodemailer/lib/dkim'

export interface DkimKey {
  /** The domain that signs. Its DNS has the public key under `<selector>._domainkey`. */
  readonly domain: string
  readonly selector: string
  /** The RSA key in PEM. */
  readonly privateKey: string
}

/**
 * The signed header fields: all that matter to a person or a program. Fields that a message lacks are
 * skipped.
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
  // One-click unsubscribing is valid only if both fields are signed (RFC 8058, 4).
  'List-Unsubscribe-Post',
] as const

/** The DNS record with which others verify the signatures (RFC 6376, 3.6.2). */
export function dnsRecordOf({ domain, selector, privateKey }: DkimKey): { name: string; text: string } {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  return { name: `${selector}._domainkey.${domain}`, text: `v=DKIM1; k=rsa; p=${publicKey}` }
}

/** @throws Error when the key cannot sign, which the settings prevent */
export async function sign(message: Buffer, { domain, selector, privateKey }: DkimKey): Promise<Buffer> {
  const signer = new DKIM({
    domainName: domain,
    keySelector: selector,
    privateKey,
    headerFieldNames: SIGNED_FIELDS.join(':'),
  })
  const signed = Buffer.concat(await signer.sign(message).toArray())
  // Because the signer returns the message unsigned if its key is not usable.
  if (signed.length === message.length) throw new Error(`the DKIM key of ${domain} does not sign`)
  return signed
}
