/** Processes that want the same on the same data. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ask } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { finished } from '../../support/leadsheet.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { random } from '../../support/random.ts'
import { hourlyNotNow, makeReportDue, zoneAtNoon } from '../../support/reports/due-report.ts'
import { startUpstream } from '../../support/upstream.ts'
import { run, start } from '../support/program.ts'
import { IS_FULL, SEED } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'

const RACES = IS_FULL ? 20 : 2

it(`of two daemons and a report by hand on the same data one daemon stays, and each recipient gets one message; ${RACES} races, SEED=${SEED}`, async () => {
  const next = random(SEED)
  await using upstream = await startUpstream(20)
  for (let race = 0; race < RACES; race++) {
    await using mail = await openMailServer()
    const cwd = folderWith({ 'leadsheet.yaml': settings() })
    const file = join(cwd, 'leadsheet.db')
    await makeReportDue(file)
    const env = {
      LEADSHEET_API_URL: upstream.url,
      LEADSHEET_API_KEY: 'test-key',
      LEADSHEET_MAIL_URL: mail.url,
      LEADSHEET_FROM: 'reports@example.com',
    }
    const daemons = [start({ args: ['run'], cwd, env }), start({ args: ['run'], cwd, env })]
    const ends = daemons.map(finished)
    await sleep(next() * 1_000)
    const byHand = run({ args: ['report', 'send', 'daily', '--json'], cwd, env })
    const loser = await Promise.race(ends)
    expect(loser.status).toBe(1)
    expect(loser.stderr).toContain('A daemon is already running')

    const { status, stdout, stderr } = await byHand
    if (status !== 0 && stderr !== '') expect(stderr, stderr).toMatch(/job_busy|report_no_data/)
    // If the daemon is sending, the command lists the messages that it leaves to the daemon.
    if (status !== 0 && stderr === '') {
      const { deliveries }: { deliveries: { state: string; response: string | null }[] } =
        JSON.parse(stdout).data
      const left = deliveries.filter(({ state }) => state !== 'sent')
      expect(left.length, stdout).toBeGreaterThan(0)
      for (const { state, response } of left)
        if (state === 'pending') expect(response).toBe('another process is sending')
    }
    const sent = "SELECT recipient FROM delivery WHERE state = 'sent'"
    // If the command was in the way, the daemon would send the message at its next tick.
    const isLeft = (): boolean => ask(file, sent).length < RECIPIENTS.length
    if (isLeft() && status === 0) await run({ args: ['report', 'send', 'daily'], cwd, env })
    while (isLeft()) await sleep(50)
    for (const daemon of daemons) daemon.kill('SIGTERM')
    expect((await Promise.all(ends)).map((end) => end.status).sort()).toEqual([0, 1])
    expect(mail.received.flatMap(({ to }) => to).sort()).toEqual(RECIPIENTS)
    await expectSound(file)
  }
})

const RECIPIENTS = ['ana@example.com', 'ben@example.com', 'cem@example.com']

const settings = () => `
data_dir: .
snapshot: { when: never }
time_zone: ${zoneAtNoon()}
reports: [{ name: daily, schedule: '${hourlyNotNow()}' }]
recipients: [${RECIPIENTS.join(', ')}]
`
