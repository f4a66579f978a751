/** A daemon with its window open, after it has read a service and sent a report of it. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { at, countSyncs, openInstallation, runUntil, statesIn } from './daemon-run.ts'
import { startLeadsheet } from './leadsheet.ts'
import { clockAt } from './shifted-clock.ts'

export interface WindowDaemon {
  readonly url: string
  readonly token: string
}

const TOKEN = 'walk-through-all-pages'
const RECIPIENTS = ['ana@example.com', 'ben@example.com']
const POLL_MS = 20

/** For the test that runs. */
export async function startWindowDaemon(): Promise<WindowDaemon> {
  const installation = await openInstallation(RECIPIENTS, 'file:./outbox')
  // Due is only what comes after a daemon was there for the first time.
  await runUntil(installation, at('06:55'), () => countSyncs(installation) > 0)
  const { stderr } = startLeadsheet(['run'], {
    cwd: installation.cwd,
    env: {
      ...{ ...installation.env, ...clockAt(at('07:01')) },
      ...{ LEADSHEET_WEB_LISTEN: '127.0.0.1:0', LEADSHEET_WEB_TOKEN: TOKEN },
    },
  })
  if (stderr === null) throw new Error('the daemon has no log')
  const url = await readAddress(stderr)
  const areSent = () => statesIn(installation).join() === RECIPIENTS.map((each) => `${each} sent`).join()
  while (!areSent()) await sleep(POLL_MS)
  return { url, token: TOKEN }
}

/** It goes on reading: a daemon whose log nobody takes would stand still. */
async function readAddress(stderr: Readable): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const lines = createInterface({ input: stderr })
  lines.on('line', (line) => {
    const { listen } = JSON.parse(line)
    if (typeof listen === 'string') resolve(listen)
  })
  lines.on('close', () => reject(new Error('the daemon ended before it served pages')))
  return promise
}
