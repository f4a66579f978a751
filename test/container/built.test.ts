// @long
/**
 * The program as installed: the npm package in an empty folder, and the files of the image in a kind of
 * container. Both are built once from this checkout.
 */
import { execFile } from 'node:child_process'
import { chownSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { type Finished, finished } from '../support/leadsheet.ts'
import { openMailServer } from '../support/mail-server.ts'
import { freePort } from '../support/network/free-port.ts'
import { untilSaid } from '../support/process/daemon-address.ts'
import { isSkipped } from '../support/process/programs.ts'
import { hourlyNotNow, makeReportDue } from '../support/reports/due-report.ts'
import { startService } from '../support/service.ts'
import { layOut, npm, packInto } from './support/built.ts'
import { CAN_CONTAIN, signal, startContained } from './support/container.ts'
import { readImage } from './support/image.ts'

const STOPPED_WITHIN_MS = 10_000
const TOKEN = 'a-token-for-the-test'
const UID = Number(readImage().user.split(':')[0])

isSkipped('the program in a container', CAN_CONTAIN ? null : 'it needs root and unshare')

const run = promisify(execFile)
const built = mkdtempSync(join(tmpdir(), 'leadsheet-built-'))
const image = join(built, 'image')
let tarball = ''

beforeAll(async () => {
  tarball = await packInto(built)
  await layOut(image)
})

afterAll(() => rmSync(built, { recursive: true }))

describe('the package that npm pack makes', () => {
  it('holds what the program reads, and none of its sources and tests', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball])
    const files = stdout.split('\n').map((line) => line.replace(/^package\//, ''))
    expect(files).toEqual(expect.arrayContaining(['bin/leadsheet.js', 'LICENSE']))
    expect(files).toEqual(expect.arrayContaining(['templates/daily/report.yaml', 'docs/queries/funnel.sql']))
    const others = files.filter((file) => /^(src|test|build|data\/demo)\/|\.ts$/.test(file))
    expect(others).toEqual([])
  })

  it('has each file that the program reads or starts beside itself', () => {
    const named = builtFiles().flatMap(({ path, code }) => {
      const at = (...places: string[]) =>
        places.reduce((place, next) => new URL(next, place), pathToFileURL(path))
      const started = code.matchAll(/programFile\(new URL\("(.+?)", import\.meta\.url\)\.href, "(.+?)"\)/g)
      const read = code.matchAll(/new URL\("([^"]+)", new URL\("([^"]+)", import\.meta\.url\)\.href\)/g)
      const listed = code.matchAll(/import\.meta\.dirname \+ "\/([^"]+)"((?:, "[^"]+")*)/g)
      return [
        ...started.map(([, place = '', name]) => at(place, `${name}.js`)),
        ...read.map(([, file = '', place = '']) => at(place, file)),
        ...listed.map(([, place, below = '']) => at(`${place}/`, ...(below.match(/[^", ]+/g) ?? []))),
      ]
    })
    expect(named.length).toBeGreaterThan(11)
    expect(named.filter((place) => !existsSync(place))).toEqual([])
  })

  it('has the licences of the packages whose code it holds, and SECURITY.md names them', () => {
    const held = builtFiles().flatMap(({ code }) => [...code.matchAll(/^\/\/ .*\bnode_modules\/([^/]+)/gm)])
    const names = [...new Set(held.map(([, name]) => name))].sort()
    expect(readFileSync('SECURITY.md', 'utf8')).toContain(` holds the code of ${names.join(' and ')}, `)
    for (const name of names)
      expect(readFileSync(join(image, `app/dist/${name}.LICENSE.txt`), 'utf8')).toContain('Copyright')
  })

  it('runs by npx where it is installed in an empty folder', async () => {
    const cwd = folderWith()
    await npm(['install', '--prefix', '.', '--prefer-offline', '--no-audit', '--no-fund', tarball], cwd)
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const leadsheet = async (...args: string[]) =>
      (await npm(['exec', '--', 'leadsheet', ...args], cwd)).trim()
    expect(await leadsheet('--version')).toBe(version)
    expect(await leadsheet('--help')).toMatch(/^Usage: npx leadsheet /)
    const demo = await leadsheet('demo', '--json')
    expect(JSON.parse(demo).data).toHaveProperty('reports')
    expect(readdirSync(join(cwd, 'data/demo/outbox')).length).toBeGreaterThan(0)
  })
})

it.skipIf(!CAN_CONTAIN)(
  'the image, with a read-only root and as nobody, syncs and reports as process 1, is healthy, and stops within 10 s',
  async () => {
    await using service = await startService(folderWith(), new Date(), 3)
    await using mail = await openMailServer()
    const port = await freePort()
    const files = {
      'leadsheet.yaml': `
api: { page_size: 500 }
mail: { from: reports@example.com }
recipients: [ana@example.com]
reports: [{ name: daily, schedule: '${hourlyNotNow()}' }]
`,
      'api-key': await service.createKey({ name: 'container', scope: 'read' }),
      'mail-url': mail.url,
      'web-token': TOKEN,
    }
    const [root, data, secrets] = [folderWith(), folderWith(), folderWith(files)]
    // Only the user of the image may read the settings and the secrets.
    for (const path of [data, secrets, ...Object.keys(files).map((file) => join(secrets, file))])
      chownSync(path, UID, UID)
    const mounts = { root, app: join(image, 'app'), data, secrets }
    const env = {
      LEADSHEET_CONFIG: '/secrets/leadsheet.yaml',
      LEADSHEET_API_URL: service.url,
      LEADSHEET_API_KEY_FILE: '/secrets/api-key',
      LEADSHEET_MAIL_URL_FILE: '/secrets/mail-url',
      LEADSHEET_WEB_TOKEN_FILE: '/secrets/web-token',
      LEADSHEET_WEB_LISTEN: `0.0.0.0:${port}`,
    }
    const contained = (...args: string[]): Promise<Finished> => finished(startContained(mounts, env, args))

    expect(await contained('health')).toMatchObject({ status: 1 })
    expect(await contained('sync')).toMatchObject({ status: 0 })
    await makeReportDue(join(data, 'leadsheet.db'))
    const daemon = startContained(mounts, env)
    const end = finished(daemon)
    await untilSaid(daemon.stderr, /"schedule":"report:daily",.*"state":"done"/)
    while (mail.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(mail.received[0]?.to).toEqual(['ana@example.com'])
    expect(await contained('health')).toMatchObject({ status: 0 })

    const headers = { authorization: `Bearer ${TOKEN}` }
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers })
    const links = [...(await (await ask('/')).text()).matchAll(/(?:href|src)="(\/[^"]*)"/g)]
    expect(links.length).toBeGreaterThan(4)
    for (const path of ['/healthz', '/readyz', ...links.map(([, link = '']) => link)])
      expect(await ask(path), path).toMatchObject({ status: 200 })

    const told = performance.now()
    signal(daemon, 'SIGTERM')
    expect(await end).toMatchObject({ status: 0 })
    expect(performance.now() - told).toBeLessThan(STOPPED_WITHIN_MS)
    expect(readdirSync(data)).toEqual(expect.arrayContaining(['archive', 'leadsheet.db', 'snapshot.db']))
  },
)

function builtFiles() {
  const dist = join(image, 'app/dist')
  return globSync('**/*.js', { cwd: dist }).map((file) => {
    const path = join(dist, file)
    return { path, code: readFileSync(path, 'utf8') }
  })
}
