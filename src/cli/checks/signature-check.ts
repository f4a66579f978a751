/** Checks that the DNS has the DKIM key that receivers need to verify the signatures of mails. */

import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import { errorText } from '../../errors.ts'
import { type DkimKey, dnsRecordOf } from '../../mail/dkim.ts'

/** The type of `resolveTxt` in node:dns: each record is a list of its pieces. */
export type FindRecords = (name: string) => Promise<readonly (readonly string[])[]>

const NOTHING_THERE = ['ENOTFOUND', 'ENODATA']

export async function checkSignature(key: DkimKey, findRecords: FindRecords): Promise<CheckResult> {
  const { name, text } = dnsRecordOf(key)
  const remedy = `give the DNS this TXT record at ${name}: ${text}`
  try {
    const found = (await findRecords(name)).map((pieces) => pieces.join(''))
    if (found.some((record) => publicKeyIn(record) === publicKeyIn(text))) {
      return ok('signature', `${name} has the key`)
    }
    return fail('signature', `${name} has another key than mail.dkim`, remedy)
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    return code !== undefined && NOTHING_THERE.includes(code)
      ? fail('signature', `the DNS has nothing at ${name}`, remedy)
      : warn('signature', `the DNS cannot be asked for ${name}: ${errorText(thrown)}`, `see that ${remedy}`)
  }
}

/**
 * Returns the tag `p` of a DKIM record without its spaces, which have no meaning (RFC 6376, section 3.6.1).
 */
function publicKeyIn(record: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1]?.replace(/\s/g, '')
}
