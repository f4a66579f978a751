/**
 * An installation of the bench: a folder with settings, in which commands and the daemon run as processes.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ask as askDatabase } from '../support/data/publishing.ts'
import { readAddress } from '../support/process/daemon-address.ts'
import { MAIN, newFolder } from './programs.ts'

const TOKEN = 'a-token-of-the-bench'
const LOOK_MS = 20
const AGAIN_MS = 100
const SYNC_MS_MAX = 30 * 60_000

/** Settings with which the daemon syncs once at its start and does nothing by itself afterwards. */
export const IDLE = `sync: { schedule: "0 4 1 1 *", full_schedule: "0 4 1 1 *" }
reports: []`

export type Installation = Awaited<ReturnType<typeof install>>
export type RunningDaemon = Awaited<ReturnType<typeof startDaemon>>

/** @param settings YAML that is added to the settings of the folder and of the token */
export async function install(settings: string) {
  const made = await newFolder()
  const folder = made.path
  const database = join(folder, 'data', 'leadsheet.db')
  await mkdir(join(folder, 'data'))
  // Messages come as through a proxy, which may open more connections than an address of others.
  const web = `{ listen: "127.0.0.1:0", token: ${TOKEN}, trusted_proxies: [loopback] }`
  const text = `data_dir: data\nenrichment: { policy: none }\nsnapshot: { when: never }\nweb: ${web}\n${settings}\n`
  await writeFile(join(folder, 'leadsheet.yaml'), text, { mode: 0o600 })
  return {
    folder,
    database,
    /** @throws Error with its output if it fails */
    run: (args: readonly string[], env: Readonly<Record<string, string>>) =>
      promisify(execFile)(process.execPath, [MAIN, ...args], {
        cwd: folder,
        env: { ...process.env, ...env },
      }),
    /** @param imports the files that Node loads before the program */
    startDaemon: (imports: readonly string[] = []) => startDaemon(folder, database, imports),
    [Symbol.asyncDispose]: () => made.remove(),
  }
}

async function startDaemon(cwd: string, database: string, imports: readonly string[]) {
  const args = [...imports.map((file) => `--import=${file}`), MAIN, 'run']
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const address = await readAddress(child.stderr)
  /** Waits for the end of the next sync after `ended`, and returns the number of ended syncs. */
  const untilSyncs = async (ended: number): Promise<number> => {
    const until = performance.now() + SYNC_MS_MAX
    for (;;) {
      const found = countSyncs(database)
      if (found > ended) return found
      if (performance.now() > until || child.exitCode !== null)
        throw new Error(`the daemon: found ${found} ended syncs, expected ${ended + 1}`)
      await delay(LOOK_MS)
    }
  }
  const ask = (isFull: boolean): Promise<Response> =>
    fetch(`${address}/actions/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: isFull ? 'full=yes' : '',
    })
  return {
    child,
    address,
    untilSyncs,
    /** Asks for a sync as the dashboard does, and waits for its end. */
    async sync(isFull: boolean) {
      const before = countSyncs(database)
      // A sync ends in the database a moment before its lease does, so a refusal is tried again.
      for (let answer = await ask(isFull); !answer.ok; answer = await ask(isFull)) {
        if (answer.status !== 409) throw new Error(`a sync: found ${answer.status}, expected 200`)
        await delay(AGAIN_MS)
      }
      await untilSyncs(before)
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

function countSyncs(file: string): number {
  return askDatabase(file, 'SELECT 1 FROM sync_run WHERE finished_at IS NOT NULL').length
}
