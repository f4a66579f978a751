/**
 * Checks the packages of others: their versions, their licences, and which of them may run scripts when
 * installed.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { folderWith } from './support/folder.ts'

const packageSchema = z.object({
  version: z.string(),
  integrity: z.string(),
  license: z.string().default(''),
  dev: z.boolean().default(false),
  devOptional: z.boolean().default(false),
  hasInstallScript: z.boolean().default(false),
})
const { '': _ours, ...locked } = z
  .object({ packages: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync('package-lock.json', 'utf8'))).packages
const packages = Object.entries(locked).map(([path, found]) => ({
  name: path.replace(/^.*node_modules\//, ''),
  ...packageSchema.parse(found),
}))
const manifest = z
  .object({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
    allowScripts: z.record(z.string(), z.boolean()),
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))

/** The first versions without known security problems. */
const MENDED = { handlebars: '4.7.9', kysely: '0.28.17', nodemailer: '9.0.5', undici: '7.18.2' }

describe('what is installed with the program', () => {
  const installed = packages.filter(({ dev, devOptional }) => !dev && !devOptional)

  it('has the licences that SECURITY.md names, and no others', () => {
    const [, named = ''] =
      /licences: ([^.\n]*(?:\.\d[^.\n]*)*)/.exec(readFileSync('SECURITY.md', 'utf8')) ?? []
    const licences = new Set(installed.flatMap(({ license }) => license.split(' AND ')))
    expect(named.split(/, | and /)).toEqual([...licences].sort())
  })

  it.each(Object.entries(MENDED))('has %s of %s or later', (name, least) => {
    const versions = installed.filter((one) => one.name === name).map(({ version }) => version)
    expect(versions).toHaveLength(1)
    expect(versions.filter((version) => isBefore(version, least))).toEqual([])
  })

  it('runs nothing when it is installed', () => {
    expect(installed.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([])
  })
})

describe('all packages', () => {
  it('are few, and of exactly one version, as package.json names it', () => {
    const named = Object.values({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(26)
    expect(named.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  })

  it('are known by a digest', () => {
    expect(packages.filter(({ integrity }) => !integrity.startsWith('sha512-'))).toEqual([])
  })

  it('run nothing when they are installed but Node itself, for development', () => {
    expect(manifest.allowScripts).toEqual({ 'better-sqlite3': false, node: true })
    const scripts = packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
    expect(scripts).toEqual(['node'])
    expect(Object.keys(manifest.dependencies)).not.toContain('node')
  })
})

it('npx runs the program of a clone from its sources, and hints say so', async () => {
  const home = folderWith()
  const env = { PATH: process.env['PATH'], HOME: home, npm_config_cache: home, npm_config_offline: 'true' }
  await expect(
    promisify(execFile)('npm', ['exec', '--', 'leadsheet', 'leads', '--nope'], { env }),
  ).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "error: unknown option '--nope'\nhint: `npx leadsheet leads --help` shows what there is.\n",
    ),
  })
})

function isBefore(version: string, least: string): boolean {
  return version.localeCompare(least, 'en', { numeric: true }) < 0
}
