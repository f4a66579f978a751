/** What the answers of the APIs mean for a message, and what an operator reads of them. */
import { expect, it } from 'vitest'
import { failedSendOf } from '../../../src/mail/sending.ts'
import { openTransport } from '../../../src/mail/transport.ts'
import { SCHEMES, startMailApi } from '../../support/mail/api-server.ts'
import { MESSAGE } from '../../support/mail/message.ts'
import { SILENT } from '../../support/syncing.ts'
import { ANSWERS } from './answers.ts'

const { signal } = new AbortController()
const NOW = new Date('2026-11-21T05:04:00Z')
const tokens = {
  current: async () => 'token-4711',
  hasOther: async () => false,
  close: async () => undefined,
}

it('an answer means what its API says of it', async () => {
  const blocks: string[] = []
  for (const scheme of SCHEMES) {
    await using api = await startMailApi(scheme)
    await using transport = openTransport(api.url, { log: SILENT, tokens, now: () => NOW })
    for (const [, answer] of ANSWERS.filter(([of]) => of === scheme)) {
      api.acts.push(answer)
      const sending = transport.send(MESSAGE, { signal, queuedAt: NOW.toISOString() })
      const thrown = await sending.catch((thrown: unknown) => thrown)
      const failed = failedSendOf(thrown)
      if (failed === null) throw new Error(`${scheme} takes ${JSON.stringify(answer)}`, { cause: thrown })
      const { kind, concerns, isRefusal, isTooLarge, replyCode, waitMs, repeatableUntil, isInMessage } =
        failed
      expect(isInMessage).toBe(true)
      const facts = [
        `${kind}, ${concerns}`,
        isRefusal && 'counts against the recipient',
        isTooLarge && 'too large',
        `code ${replyCode}`,
        waitMs !== null && `wait ${waitMs / 1000} s`,
        repeatableUntil && `repeatable until ${repeatableUntil}`,
      ].filter(Boolean)
      const error = thrown as Error & { code: string; hint: string }
      const read = error.message.replaceAll(api.host, 'HOST')
      blocks.push(`${facts.join('; ')}\n  ${error.code}: ${read}\n  ${error.hint}\n`)
    }
    expect(api.received).toEqual([])
  }
  await expect(blocks.join('\n')).toMatchFileSnapshot('golden/answers.txt')
})
