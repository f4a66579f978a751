/** Starts a server as a process, waits for it, and stops it at the end of the test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

const START_MS = 60_000
const POLL_MS = 50
/** The length of the output that is shown when a server does not start. */
const OUTPUT_MAX = 2_000

export type ServerProcess = ReturnType<typeof startProcess>

/** Starts a process. At the end of the test it is killed at once, because its data are thrown away. */
export function startProcess(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const { PATH = '' } = process.env
  // It gets its own process group, because some servers are started by a shell that stays.
  const child = spawn(command, args, {
    detached: true,
    env: { PATH: `${PATH}:/usr/sbin:/sbin`, TZ: 'UTC', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let exited = false
  const add = (said: unknown): void => {
    output = `${output}${said}`.slice(-OUTPUT_MAX)
  }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', add)
  const gone = once(child, 'close')
    .catch(add)
    .then(() => {
      exited = true
    })
  onTestFinished(async () => {
    if (child.pid !== undefined && !exited) process.kill(-child.pid, 'SIGKILL')
    await gone
  })
  return {
    get exited() {
      return exited
    },
    get output() {
      return output
    },
    /** Asks the server to end, and waits until it has ended. */
    async stop() {
      child.kill()
      await gone
    },
  }
}

/** @throws Error with the output of the server if the condition does not hold in time */
export async function untilTrue(server: ServerProcess, isReady: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + START_MS
  while (performance.now() < until && !server.exited) {
    if (await isReady().catch(() => false)) return
    await sleep(POLL_MS)
  }
  throw new Error(`a server does not answer as it should: ${server.output}`)
}

/** @throws Error if nobody listens on this port of the machine */
export async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
  return true
}
