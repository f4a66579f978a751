/** A daemon with its dashboard, after it has read a service and sent a report. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startLeadsheet } from '../leadsheet.ts'
import { readAddress } from '../process/daemon-address.ts'
import { at, countSyncs, openInstallation, runUntil, statesIn } from '../process/daemon-run.ts'
import { clockAt } from '../process/shifted-clock.ts'

const TOKEN = 'walk-through-all-pages'
const RECIPIENTS = ['ana@example.com', 'ben@example.com']
const POLL_MS = 20

/** Starts the daemon for the current test. */
export async function startDashboardDaemon() {
  const installation = await openInstallation(RECIPIENTS, 'file:./outbox')
  // A report is only due if a daemon has run before that time.
  await runUntil(installation, at('06:55'), () => countSyncs(installation) > 0)
  const { stderr } = startLeadsheet(['run'], {
    cwd: installation.cwd,
    env: {
      ...installation.env,
      ...clockAt(at('07:01')),
      LEADSHEET_WEB_LISTEN: '127.0.0.1:0',
      LEADSHEET_WEB_TOKEN: TOKEN,
    },
  })
  const url = await readAddress(stderr)
  const areSent = () => statesIn(installation).join() === RECIPIENTS.map((each) => `${each} sent`).join()
  while (!areSent()) await sleep(POLL_MS)
  return { url, token: TOKEN }
}
