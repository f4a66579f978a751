/**
 * Sends a burst of signed messages about the 2 % of the leads that have changed: first to an idle daemon,
 * then to one that reads the whole list again and again. The upstream, the sender and the receiver are
 * processes of their own.
 */
import { execFile } from 'node:child_process'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { IDLE, type Installation, install, type RunningDaemon } from '../installation.ts'
import type { Part } from '../measurement.ts'
import { startUpstream } from '../programs.ts'
import type { Sent } from '../servers/sender.ts'

const SECRET = `whsec_${Buffer.from('a secret of the bench, 32 bytes.').toString('base64')}`
const [MESSAGES, SHORT_MESSAGES, A_SECOND] = [10_000, 2_500, 10_000 / 60]
const LOOK_MS = 50

export const BURST: Part = {
  subjects: ['burst'],
  async measure({ fewest: leads, isShort }, add) {
    // A store of few leads gets fewer messages at the same pace.
    const messages = Math.min(leads, isShort ? SHORT_MESSAGES : MESSAGES)
    await using upstream = await startUpstream(leads)
    await using loaded = await installFor(`${upstream.address}/now`)
    {
      await using daemon = await loaded.startDaemon()
      await daemon.untilSyncs(0)
    }
    for (const name of ['idle', 'syncing'] as const) {
      process.stderr.write(`${messages} messages, ${name}\n`)
      await setState('v1')
      await using installation = await installFor(`${upstream.address}/now`)
      await copyFile(loaded.database, installation.database)
      await using daemon = await installation.startDaemon()
      // The daemon begins with a sync, which must not find the changes that the messages are about.
      await daemon.untilSyncs(1)
      await setState('v3')
      const syncing = new AbortController()
      const syncs = name === 'syncing' ? syncOver(daemon, syncing.signal) : null
      const sent = await send(daemon.address, messages, leads)
      syncing.abort()
      await syncs
      const taken = sent.statuses['204'] ?? sent.statuses['202'] ?? sent.statuses['200'] ?? 0
      if (taken !== messages)
        throw new Error(`burst: found ${JSON.stringify(sent.statuses)}, expected all taken`)
      add(`burst ${name}`, leads, sent.p99Ms)
    }
    return null

    async function setState(state: string): Promise<void> {
      await (await fetch(`${upstream.address}/set/${state}`)).arrayBuffer()
    }
  },
}

function installFor(url: string): Promise<Installation> {
  return install(
    `api: { url: "${url}", key: bench }
events: { secret: ${SECRET} }
${IDLE}`,
  )
}

async function syncOver(daemon: RunningDaemon, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await daemon.sync(true).catch(() => delay(LOOK_MS))
}

async function send(address: string, messages: number, leads: number): Promise<Sent> {
  const script = join(import.meta.dirname, '../servers/sender.ts')
  const args = [`${address}/webhooks/leads`, SECRET, ...[messages, messages / A_SECOND, leads].map(String)]
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args])
  return JSON.parse(stdout)
}
