/** Runs the program like its image on machines without a container engine: see contain.sh. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readImage } from './image.ts'

const SCRIPT = join(import.meta.dirname, 'contain.sh')
const UNSHARE = ['--fork', '--pid', '--mount', '--kill-child']

/** The mounted folders of this machine. */
interface Mounts {
  /** An empty folder for the root. */
  readonly root: string
  readonly app: string
  readonly data: string
  readonly secrets: string
}

export const CAN_CONTAIN =
  spawnSync('unshare', [...UNSHARE, 'sh', '-c', 'mount --make-rprivate / && mount -t tmpfs tmpfs /mnt'])
    .status === 0

/**
 * Starts the program with the environment, the user and the entrypoint of the image. It is killed at the end
 * of the test.
 * @param args the command; by default that of the image
 */
export function startContained(
  mounts: Mounts,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = readImage().command,
): ChildProcess {
  const { user, entrypoint, env: own } = readImage()
  const child = spawn(
    'unshare',
    [
      ...[...UNSHARE, 'sh', SCRIPT, mounts.root, mounts.app, mounts.data, mounts.secrets],
      ...[dirname(process.execPath), user.split(':')[0] ?? '', ...entrypoint, ...args],
    ],
    { env: { PATH: '/node:/usr/sbin:/usr/bin:/sbin:/bin', ...own, ...env } },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Sends a signal to the first process of a container, like `docker stop`. */
export function signal(child: ChildProcess, name: NodeJS.Signals): void {
  process.kill(Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')), name)
}
