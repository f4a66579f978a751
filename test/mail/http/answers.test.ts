/**
 * The answers of the APIs: their meaning for a message, and the words that an operator reads. The answers are those of their
 * documentation and of their users, and of what may stand between:
 * https://learn.microsoft.com/graph/errors, /graph/throttling, /graph/api/user-sendmail
 * https://developers.google.com/workspace/gmail/api/guides/handle-errors
 * https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html, /CommonErrors.html,
 * https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html
 * https://resend.com/docs/api-reference/errors
 */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { LeadsheetError } from '../../../src/errors.ts'
import { failedSendOf } from '../../../src/mail/sending.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import {
  type ApiReply,
  type ApiScheme,
  apiFault,
  startMailApi,
  TOKENS,
} from '../../support/mail/api-server.ts'
import { MESSAGE } from '../../support/mail/message.ts'
import { checkExamples } from '../../support/process/transcript.ts'
import { SILENT } from '../../support/syncing.ts'

const { signal } = new AbortController()
const NOW = new Date('2026-11-21T05:04:00Z')

/** Reads `graph 429 (retry-after 300) ApplicationThrottled: Application is over its limit.`, or a body behind the status. */
function parseAnswer(line: string): readonly [ApiScheme, ApiReply] {
  const [, scheme, code, name, value = '', rest = ''] =
    /^(\w+) (\d+)(?: \((\S+) (\S+)\))? ?(.*)$/.exec(line) ?? []
  const [of, status] = [scheme as ApiScheme, Number(code)]
  const headers = name === undefined ? {} : { [name]: value }
  const [, fault, words = ''] = /^(\w\S*):(?: (.*))?$/.exec(rest) ?? []
  if (fault !== undefined) return [of, apiFault(of, status, fault, words, headers)]
  return [
    of,
    { status, headers, body: rest.startsWith('{') ? JSON.parse(rest) : rest.replaceAll('\\n', '\n') },
  ]
}

it('an answer means what its API says of it', () =>
  checkExamples(join(import.meta.dirname, 'golden/answers.txt'), async (line) => {
    const [scheme, answer] = parseAnswer(line)
    await using api = await startMailApi(scheme)
    await using transport = openTransport(api.url, { log: SILENT, tokens: TOKENS, now: () => NOW })
    api.acts.push(answer)
    const sending = transport.send(MESSAGE, { signal, queuedAt: NOW.toISOString() })
    const error = await sending.then(
      () => expect.unreachable(`${line} is taken`),
      (thrown) => thrown,
    )
    const failed = failedSendOf(error)
    expect([failed?.isInMessage, api.received]).toEqual([true, []])
    const facts = [
      `${failed?.kind}, ${failed?.concerns}`,
      failed?.isRefusal && 'counts against the recipient',
      failed?.isTooLarge && 'too large',
      `code ${failed?.replyCode}`,
      failed?.waitMs != null && `wait ${failed.waitMs / 1000} s`,
      failed?.repeatableUntil && `repeatable until ${failed.repeatableUntil}`,
    ].filter(Boolean)
    return [facts.join('; '), `${error.code}: ${error.message.replaceAll(api.host, 'HOST')}`, error.hint]
  }))

it('an answer to a test of the login says no more than is known', () =>
  checkExamples(join(import.meta.dirname, 'golden/verify.txt'), async (line) => {
    const [scheme, answer] = parseAnswer(line)
    await using api = await startMailApi(scheme)
    await using transport = openTransport(api.url, { log: SILENT, tokens: TOKENS })
    api.acts.push(answer)
    const said = await transport.verify(signal).then(
      (found) => [`ok: ${found}`],
      (thrown: LeadsheetError) => [`fail: ${thrown.message.replaceAll(api.host, 'HOST')}`, `${thrown.hint}`],
    )
    return [...api.asked, ...said]
  }))
