/** A small part of what test/crash/outbox tries: kills while tokens expire and are revoked. */
import { expect, it } from 'vitest'
import { sendThroughKills } from '../crash/outbox/kills.ts'

it('messages through kills of senders whose tokens expire and are revoked are neither lost nor doubled unsaid', async () => {
  const messages = 30
  const { killed, found } = await sendThroughKills({
    messages,
    kills: 5,
    senders: 2,
    seed: 1,
    isTokenLogin: true,
  })
  expect(found).toMatchObject({ lost: [], doubled: [], altered: [], messages })
  expect(killed).toBeGreaterThanOrEqual(4)
  expect(found.tokens).toBeGreaterThan(1)
})
