/**
 * `npx vitest run --project container`: podman builds the real image from the Dockerfile, and runs it like the compose
 * files and the manifests, within 512 MB. The base image is made of Debian's packages, and containers share
 * the machine's network.
 */
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Service } from '../../src/service/open.ts'
import { type MailServer, openMailServer } from '../support/mail-server.ts'
import { freePort } from '../support/network/free-port.ts'
import { findInstalled, isSkipped } from '../support/process/programs.ts'
import { startService } from '../support/service.ts'
import { ROOT, readImage } from './support/image.ts'
import { buildBase, composeArguments, missingPodman, openPodman, type Podman } from './support/podman.ts'

const [IMAGE, NEXT] = ['leadsheet:0.1.0', 'leadsheet:0.2.0']
const OWN_PART_MAX_BYTES = 110e6
const UID = Number(readImage().user.split(':')[0])
const REPORTED = /"schedule":"report:daily",.*"state":"done"/
const RECIPIENTS = ['ana@example.com', 'ben@example.com']

describe.skipIf(isSkipped('the image by podman', missingPodman()))('the image', () => {
  let root: string
  let podman: Podman
  let service: Service
  let mail: MailServer
  let key: string
  let memory: string | null

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'leadsheet-container-'))
    chmodSync(root, 0o755)
    podman = openPodman()
    memory = podman.hasMemoryLimit ? '512m' : null
    isSkipped('the limit of memory', memory === null ? 'this machine has no cgroup for it' : null)
    const reaper = findInstalled('/usr/bin/catatonit')
    isSkipped('a first process that reaps', reaper === null ? 'apt-get install catatonit' : null)
    service = await startService(root, new Date(), 20, 100_000)
    key = await service.createKey({ name: 'container', scope: 'read' })
    mail = await openMailServer()
    await buildBase(podman)
    await podman.build(ROOT, IMAGE)
  })

  afterAll(async () => {
    await podman[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
    await mail[Symbol.asyncDispose]()
    rmSync(root, { recursive: true })
  })

  const toldSince = (count: number) =>
    mail.received
      .slice(count)
      .map(({ to }) => to[0])
      .toSorted()
  const leadsheet = (name: string, ...args: string[]) => podman.ask('exec', name, 'leadsheet', ...args)
  const inspect = async (...args: string[]) => (await podman.ask(...args)).stdout.trim()

  async function stop(name: string): Promise<void> {
    await podman.ask('stop', '--time=15', name)
    expect(await inspect('inspect', '--format', '{{.State.ExitCode}}', name), name).toBe('0')
  }

  /** Makes a folder of files that one user and one group may read. */
  function layOut(files: Readonly<Record<string, string>>, { owner = UID, mode = 0o400 } = {}): string {
    const folder = mkdtempSync(join(root, 'mounted-'))
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), content, { mode })
      chownSync(join(folder, name), owner, UID)
    }
    chownSync(folder, UID, UID)
    return folder
  }

  it('is built of the Dockerfile, and what it adds to its base is less than 110 MB', async () => {
    const [base = ''] = readImage().bases
    const [all, below] = [await sizeOf(IMAGE), await sizeOf(base)]
    say(`the image's own part: ${((all - below) / 1e6).toFixed(1)} MB`)
    expect(below).toBeGreaterThan(100e6)
    expect(all - below).toBeLessThan(OWN_PART_MAX_BYTES)
  })

  async function sizeOf(name: string): Promise<number> {
    return Number(await inspect('image', 'inspect', '--format', '{{.Size}}', name))
  }

  describe('as compose.yaml runs it', () => {
    const name = 'composed'
    let port: number
    let args: readonly string[]

    /** The settings that `init` writes, a report that is due each minute, and 3,000 leads of 20 days. */
    beforeAll(async () => {
      port = await freePort()
      const parent = layOut({})
      const settings = join(parent, 'settings')
      mkdirSync(settings, { mode: 0o700 })
      chownSync(settings, UID, UID)
      const own = composeArguments(compose('compose.yaml').leadsheet, parent, memory)
      args = [...own, `--env=LEADSHEET_WEB_LISTEN=0.0.0.0:${port}`]
      cpSync(layOut({ 'api-key': key, 'mail-url': mail.url }), join(settings, 'secrets'), { recursive: true })
      for (const path of ['', 'api-key', 'mail-url']) chownSync(join(settings, 'secrets', path), UID, UID)
      const init = `init --yes --config /etc/leadsheet/leadsheet.yaml --api-url ${service.url}
        --key-file /etc/leadsheet/secrets/api-key --mail-url-file /etc/leadsheet/secrets/mail-url
        --from reports@example.com --recipients ${RECIPIENTS} --alert-recipients none --schedule`.split(/\s+/)
      const volume = `--volume=${settings}:/etc/leadsheet`
      const { status, stdout, stderr } = await podman.run([volume, IMAGE, ...init, '* * * * *'])
      expect([0, 3], stdout + stderr).toContain(status)
      await podman.start(name, [...args, IMAGE])
    })

    it('goes on after it was killed as its first sync began, and has every lead', async () => {
      await podman.untilSaid(name, /"msg":"running"/)
      await podman.ask('kill', '--signal=KILL', name)
      await podman.ask('start', name)
      await podman.untilSaid(name, /"schedule":"sync",.*"state":"done"/)
      say('its syncs:', JSON.stringify(await query('SELECT outcome FROM sync_run ORDER BY started_at')))
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(`${service.url}/leads?limit=1`, { headers })
      const { page } = (await answer.json()) as { page: { total: number } }
      expect(await query('SELECT count(*) AS leads FROM lead')).toEqual([{ leads: page.total }])
    })

    async function query(sql: string): Promise<unknown> {
      return JSON.parse((await leadsheet(name, 'query', sql, '--json')).stdout).data
    }

    it('mails each recipient once when a schedule comes due, also after a kill', async () => {
      await podman.untilSaid(name, REPORTED)
      await expect.poll(() => toldSince(0)).toEqual(RECIPIENTS)
      const done = await podman.countSaid(name, REPORTED)
      await podman.ask('kill', '--signal=KILL', name)
      await podman.ask('start', name)
      await podman.untilSaid(name, REPORTED, done + 1)
      expect(toldSince(0)).toEqual(RECIPIENTS)
    })

    it('keeps to its limits: it can write its data and what is passing, and is nobody', async () => {
      const write = async (path: string) => (await podman.ask('exec', name, 'touch', path)).status
      expect(await Promise.all(['/x', '/app/x', '/etc/leadsheet/x'].map(write))).toEqual([1, 1, 1])
      expect(await Promise.all(['/data/x', '/tmp/x'].map(write))).toEqual([0, 0])
      expect((await podman.ask('exec', name, 'id', '-u')).stdout).toBe(`${UID}\n`)
      if (memory === null) return
      const [most = 0, peak = 0] = (await podman.ask('exec', name, 'sh', '-c', READ_MEMORY)).stdout
        .split('\n')
        .map(Number)
      say(`its memory at most: ${Math.round(peak / 1e6)} MB of ${Math.round(most / 1e6)} MB`)
      expect(most).toBe(512 * 1024 ** 2)
    })

    it('answers the commands of the README and of its health check', async () => {
      const [program = '', ...health] = compose('compose.yaml').leadsheet.healthcheck.test.slice(1)
      expect(await podman.ask('exec', name, program, ...health)).toMatchObject({ status: 0 })
      const commands = [['status'], ['db', 'backup', '/data/copy.db'], ['doctor']]
      const outcomes = commands.map(async (command) => (await leadsheet(name, ...command)).status)
      // The last one warns that no operator is told of problems.
      expect(await Promise.all(outcomes)).toEqual([0, 0, 3])
      const list = 'leads list --remote --min-score 90 --json'.split(' ')
      const listed = await podman.run([...args, IMAGE, ...list])
      expect(JSON.parse(listed.stdout).data.length).toBeGreaterThan(0)
      const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
      expect([await statusOf('/healthz'), await statusOf('/')]).toEqual([200, 401])
    })

    it('is another version on the same volume: no mail leaves twice, and who has paused gets none', async () => {
      expect((await leadsheet(name, 'recipients', 'set', 'paused', 'ben@example.com')).status).toBe(0)
      await podman.build(layOut(nextVersion()), NEXT)
      await stop(name)
      await podman.start('upgraded', [...args, NEXT])
      await podman.untilSaid('upgraded', REPORTED)
      expect((await leadsheet('upgraded', '--version')).stdout).toBe('0.2.0\n')
      expect(toldSince(0)).toEqual(RECIPIENTS)
      const resend = 'report resend daily --all --yes --reason tried'.split(' ')
      const resent = await leadsheet('upgraded', ...resend)
      expect(resent.status, resent.stdout + resent.stderr).toBe(0)
      await expect.poll(() => toldSince(RECIPIENTS.length)).toEqual(['ana@example.com'])
      await stop('upgraded')
    })
  })

  it('does what deploy/compose/try.yaml asks for, and the service says nothing of a token', async () => {
    const { service: served, leadsheet: job } = compose('deploy/compose/try.yaml')
    const [servicePort, webPort] = [await freePort(), await freePort()]
    const argumentsOf = (each: object) => composeArguments(each, ROOT, memory)
    await podman.start('service', [...argumentsOf(served), IMAGE, ...served.command, `--port=${servicePort}`])
    await untilServed(`http://127.0.0.1:${servicePort}/api/v1/leads`)
    const { stdout, stderr } = await podman.ask('logs', 'service')
    expect(stdout + stderr).not.toContain('token')

    const env = Object.entries<string>(job.environment).map(([name, value]) => {
      const here = value.replace('service:8484', `127.0.0.1:${servicePort}`)
      return `--env=${name}=${here.replace('mails:1025', `127.0.0.1:${mail.port}`)}`
    })
    const listen = `--env=LEADSHEET_WEB_LISTEN=0.0.0.0:${webPort}`
    await podman.start('try', [...argumentsOf(job), ...env, listen, IMAGE])
    await podman.untilSaid('try', /"schedule":"sync",.*"state":"done"/)
    const before = mail.received.length
    const sent = await leadsheet('try', 'report', 'preview', 'daily', '--to', 'you@example.com')
    expect(sent.status, sent.stdout + sent.stderr).toBe(0)
    expect(toldSince(before)).toContain('you@example.com')
    for (const name of ['try', 'service']) await stop(name)
  })
})

/** Prints the memory limit and the peak of a container, with either version of cgroups. */
const READ_MEMORY = `cd /sys/fs/cgroup && if [ -e memory.max ]; then cat memory.max memory.peak
  else cat memory/memory.limit_in_bytes memory/memory.max_usage_in_bytes; fi`

function compose(file: string) {
  return parse(readFileSync(join(ROOT, file), 'utf8'), { merge: true }).services
}

/** Returns the files of an image for an upgrade. */
function nextVersion(): Record<string, string> {
  const project = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return {
    'package.json': JSON.stringify({ ...project, version: '0.2.0' }),
    Dockerfile: `FROM ${IMAGE}\nCOPY --chmod=644 package.json /app/\n`,
  }
}

async function untilServed(url: string): Promise<void> {
  const isServed = () =>
    fetch(url).then(
      // Without a key, the reference service answers 401.
      ({ status }) => status < 500,
      () => false,
    )
  await expect.poll(isServed, { timeout: 240_000, interval: 500 }).toBe(true)
}

function say(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}
