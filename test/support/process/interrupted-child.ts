/** A process that receives Ctrl-C during its work, as all processes of a terminal do. */
import { setTimeout as delay } from 'node:timers/promises'
import { answerParent } from '../../../src/store/db/subprocess.ts'

answerParent(async ({ signals }: { signals: readonly NodeJS.Signals[] }) => {
  for (const signal of signals) process.kill(process.pid, signal)
  await delay(50)
  return 'done'
})
