/** Checks how recipients can unsubscribe. Nothing is sent. */

import { senderOf } from '../../app/configured-mail.ts'
import { type CheckResult, fail, ok, warn } from '../../checks/check.ts'
import type { Config } from '../../config/config.ts'

export function checkWayOut({ web, mail }: Pick<Config, 'web' | 'mail'>): CheckResult {
  const { publicUrl, listen } = web
  if (publicUrl === null) {
    return ok('unsubscribing', `by a mail to ${senderOf(mail, null).unsubscribe.mailto}; no pages are served`)
  }
  if (publicUrl.startsWith('http:')) {
    return warn(
      'unsubscribing',
      `${publicUrl} is only for this machine, so that mail programs show no button for it`,
      'set web.public_url to an https:// address that recipients reach',
    )
  }
  if (listen === null) {
    return fail(
      'unsubscribing',
      `mails lead to ${publicUrl}, but web.listen is none: no pages are served`,
      'give web.listen an address, or take web.public_url away',
    )
  }
  const signed = mail.dkim === null ? '; the mail server has to sign the mails for its button' : ''
  return ok('unsubscribing', `at ${publicUrl}, which has to lead to ${listen.host}:${listen.port}${signed}`)
}
