import { expect, it } from 'vitest'
import { folderWith } from '../../support/folder.ts'
import {
  at,
  countSyncs,
  type Installation,
  openInstallation,
  readLedger,
  runUntil,
  startDaemon,
  statesIn,
  stopWhen,
} from '../../support/process/daemon-run.ts'
import { HOLDS, type Hold, openHoldingServer } from '../support/holding-server.ts'
import { sampleOf } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'
import { copyOf, databaseIn } from '../support/world.ts'

const RECIPIENTS = ['ana@example.com', 'ben@example.com', 'cem@example.com']
/**
 * The steps after which the daemon cannot know whether the message has arrived, because its body has begun to
 * leave.
 */
const UNCONFIRMED: readonly Hold[] = ['body', 'reply']

it('a daemon killed at any step of a message is followed by one of two, who sends what is left and doubts one message at most (row 60)', async () => {
  const base = await openInstallation(RECIPIENTS)
  await runUntil(base, at('06:55'), () => countSyncs(base) > 0)
  const copies = folderWith()
  for (const hold of sampleOf(HOLDS, 2)) {
    await using server = await openHoldingServer(hold)
    const cwd = copyOf(base.cwd, copies, hold)
    const env = { ...base.env, LEADSHEET_SMTP_URL: server.url }
    const installation: Installation = { cwd, env, file: databaseIn(cwd) }

    const killed = startDaemon(installation, at('07:00'))
    await Promise.race([server.isHeld, killed.end])
    killed.child.kill('SIGKILL')
    expect((await killed.end).status, 'it was not to end by itself').toBeNull()

    const racers = [startDaemon(installation, at('07:02')), startDaemon(installation, at('07:02'))]
    const loser = await Promise.race(racers.map(async ({ child, end }) => ({ child, end: await end })))
    expect(loser.end.stderr).toContain('already running')
    for (const racer of racers.filter(({ child }) => child !== loser.child)) {
      await stopWhen(racer, () => statesIn(installation).every((state) => state.endsWith(' sent')))
    }

    const ledger = readLedger(installation)
    expect(ledger.map(({ recipient }) => recipient)).toEqual(RECIPIENTS)
    const count = ledger.reduce((sum, row) => sum + row.unconfirmed_count, 0)
    expect({ hold, count }).toEqual({ hold, count: UNCONFIRMED.includes(hold) ? 1 : 0 })
    expect(server.taken).toHaveLength(RECIPIENTS.length + (hold === 'reply' ? 1 : 0))
    // A message that arrived twice must be the same message.
    const messages = new Set(server.taken.map(({ messageId, sha256 }) => `${messageId} ${sha256}`))
    expect(messages.size).toBe(RECIPIENTS.length)
    expect(new Set(server.taken.map(({ messageId }) => messageId))).toEqual(
      new Set(ledger.map(({ message_id }) => message_id)),
    )
    await expectSound(installation.file)
  }
})
