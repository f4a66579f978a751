/**
 * DKIM (RFC 6376): a signature by which receivers know that a message is its sender's and was not changed. It is as
 * deterministic as the message: no time is signed, and RSA signs the same bytes in the same way each time.
 */
import { createPublicKey } from 'node:crypto'
import DKIM from 'nodemailer/lib/dkim'

export interface DkimKey {
  /** The domain that answers for the messages; its DNS has the public key under `<selector>._domainkey`. */
  readonly domain: string
  readonly selector: string
  /** RSA, PEM. */
  readonly privateKey: string
}

/** Every header field of ours that means something to a reader or a robot; one that a message lacks is passed over. */
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
  // RFC 8058, 4: one-click holds only where both fields are signed.
  'List-Unsubscribe-Post',
] as const

/** Where the DNS has to have what for others to verify the signatures (RFC 6376, 3.6.2). */
export function dnsRecordOf({ domain, selector, privateKey }: DkimKey): { name: string; text: string } {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  return { name: `${selector}._domainkey.${domain}`, text: `v=DKIM1; k=rsa; p=${publicKey}` }
}

/** @throws Error when the key cannot sign, which the settings have made sure of */
export async function sign(message: Buffer, { domain, selector, privateKey }: DkimKey): Promise<Buffer> {
  const signer = new DKIM({
    domainName: domain,
    keySelector: selector,
    privateKey,
    headerFieldNames: SIGNED_FIELDS.join(':'),
  })
  const signed = Buffer.concat(await signer.sign(message).toArray())
  // The signer lets a message pass unsigned where its key is of no use.
  if (signed.length === message.length) throw new Error(`the DKIM key of ${domain} does not sign`)
  return signed
}
