/**
 * Builds images and runs containers with a real podman. Its storage is deleted after the tests. Containers
 * share the machine's network, so they reach servers of the test on 127.0.0.1.
 */
import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Finished } from '../../support/leadsheet.ts'
import { findInstalled, isInPath } from '../../support/process/programs.ts'
import { ROOT, readImage } from './image.ts'

const NEEDED = ['podman', 'runc', 'mmdebstrap']
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** The limits of a process that may not raise them, and the machine's network. */
const USUAL = ['--ulimit=nofile=1024:4096', '--ulimit=nproc=4096:4096', '--no-healthcheck', '--network=host']

/**
 * An image of Debian in place of the image of Node: the same Node and npm, and nothing else that the program
 * could rely on.
 */
const BASE = `FROM scratch
ADD base.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && chmod +x /usr/local/lib/node_modules/npm/bin/*.js
`

export type Podman = ReturnType<typeof openPodman>

/** Returns the reason why podman cannot work here; null if it can. */
export function missingPodman(): string | null {
  if (!NEEDED.every(isInPath)) return `apt-get install ${NEEDED.join(' ')}`
  return process.getuid?.() === 0 ? null : 'it needs root'
}

export function openPodman() {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-podman-'))
  const storage = ['root', 'runroot', 'tmpdir'].map((name) => `--${name}=${join(folder, name)}`)
  const engine = [...storage, '--cgroup-manager=cgroupfs', '--runtime=runc']
  const hasOverlay = spawnSync('podman', [...engine, '--storage-driver=overlay', 'info']).status === 0
  engine.push(`--storage-driver=${hasOverlay ? 'overlay' : 'vfs'}`)
  /** Runs any command of podman. It resolves also if the command fails. */
  const ask = (...args: string[]): Promise<Finished> =>
    new Promise((resolve) => {
      execFile('podman', [...engine, ...args], { maxBuffer: 1e8 }, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
      )
    })
  const succeed = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await ask(...args)
    expect(status, `podman ${args.join(' ')}\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`).toBe(0)
    return stdout.trim()
  }
  /** Counts the lines of a container's log that match. */
  const countSaid = async (name: string, said: RegExp): Promise<number> =>
    (await ask('logs', name)).stderr.split('\n').filter((line) => said.test(line)).length
  const controllers = spawnSync('podman', [...engine, 'info', '--format', '{{.Host.CgroupControllers}}'])
  return {
    /** True if `--memory` works on this machine. */
    hasMemoryLimit: String(controllers.stdout).includes('memory'),
    ask,
    /** Builds an image from a folder. */
    async build(context: string, name: string) {
      const npmrc = join(folder, 'npmrc')
      const own = join(homedir(), '.npmrc')
      writeFileSync(npmrc, `${existsSync(own) ? readFileSync(own, 'utf8') : ''}\ncafile=${CERTIFICATES}\n`)
      const mounts = [`${npmrc}:/root/.npmrc:ro`, `${CERTIFICATES}:${CERTIFICATES}:ro`]
      const volumes = mounts.map((mount) => `--volume=${mount}`)
      const how = '--network=host --isolation=chroot --format=docker --pull=never --layers=false'.split(' ')
      await succeed('build', ...how, ...volumes, '--tag', name, context)
    },
    /** Starts a container in the background. */
    async start(name: string, args: readonly string[]) {
      await succeed('run', '--detach', '--name', name, ...USUAL, ...args)
    },
    /** Runs a command in a new container, which is removed afterwards. */
    run: (args: readonly string[]) => ask('run', '--rm', ...USUAL, ...args),
    countSaid,
    /** Waits until so many lines match. Fails if the container ends before. */
    async untilSaid(name: string, said: RegExp, times = 1) {
      while ((await countSaid(name, said)) < times) {
        if ((await succeed('inspect', '--format', '{{.State.Status}}', name)) === 'exited')
          throw new Error(`${name} has ended: ${(await ask('logs', name)).stderr}`)
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
    },
    async [Symbol.asyncDispose]() {
      await ask('rm', '--all', '--force', '--time=0')
      await ask('volume', 'rm', '--all', '--force')
      await ask('rmi', '--all', '--force')
      spawnSync('umount', ['--lazy', join(folder, 'root/overlay')])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Makes the base image named in the Dockerfile from Debian's packages, without any registry of images. */
export async function buildBase(podman: Podman): Promise<string> {
  const [name = ''] = readImage().bases
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-base-'))
  try {
    const made = spawnSync('mmdebstrap', ['--variant=minbase', 'bookworm', join(folder, 'base.tar')])
    expect(made.status, String(made.stderr).slice(-2_000)).toBe(0)
    copyFileSync(join(ROOT, 'node_modules/node/bin/node'), join(folder, 'node'))
    const global = String(spawnSync('npm', ['root', '--global']).stdout).trim()
    cpSync(join(global, 'npm'), join(folder, 'npm'), { recursive: true, dereference: true })
    writeFileSync(join(folder, 'Dockerfile'), BASE)
    await podman.build(folder, `docker.io/library/${name}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
  return name
}

interface Service {
  readonly user?: string
  readonly init?: boolean
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly pids_limit?: number
  readonly tmpfs?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
}

/**
 * Returns a service of a compose file as arguments of `podman run`, up to the image.
 * @param folder replaces the folder of the file
 * @param memory replaces the file's memory limit on machines that support one
 */
export function composeArguments(service: Service, folder: string, memory: string | null): string[] {
  const each = (name: string, values: readonly (string | number | undefined)[] = []) =>
    values.flatMap((value) => (value === undefined ? [] : [`--${name}=${value}`]))
  const volumes = service.volumes?.map((volume) => volume.replace(/^\.\//, `${folder}/`))
  return [
    ...(service.init && findInstalled('/usr/bin/catatonit') ? ['--init'] : []),
    ...(service.read_only ? ['--read-only'] : []),
    ...each('user', [service.user]),
    ...each('cap-drop', service.cap_drop),
    ...each('security-opt', service.security_opt),
    ...each('pids-limit', [service.pids_limit]),
    ...each('memory', [memory ?? undefined]),
    ...each('tmpfs', service.tmpfs),
    ...each('volume', volumes),
    ...each(
      'env',
      Object.entries(service.environment ?? {}).map(([name, value]) => `${name}=${value}`),
    ),
  ]
}
