/** The Dockerfile passes a linter and our rules. built.test.ts proves that its result runs. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { unknownArguments } from '../support/docs/commands.ts'
import { ROOT, readImage } from './support/image.ts'

const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const image = readImage()
const project = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

describe('the Dockerfile', () => {
  it('is in order for a linter, which would tell of a mistake', () => {
    expect(validate(text)).toEqual([])
    expect(validate(text.replace('WORKDIR /app', 'WORKDIR app'))).not.toEqual([])
  })

  it('takes the Node that the tests run on, in each of its stages', () => {
    expect(new Set(image.bases)).toEqual(new Set([`node:${project.devDependencies.node}-slim`]))
  })

  it('starts the program itself, as a user who is nobody else', () => {
    expect(image.entrypoint).toEqual(['node', '/app/dist/main.js'])
    expect(image.user).toMatch(/^[1-9]\d{4,}:[1-9]\d{4,}$/)
    expect(image.folder).toBe(image.env['LEADSHEET_DATA_DIR'])
    expect(text).toMatch(/^STOPSIGNAL SIGTERM$/m)
  })

  it('names only commands that there are', async () => {
    const [program, file, ...health] = image.healthcheck
    expect([program, file]).toEqual(image.entrypoint)
    for (const args of [image.command, health]) expect(await unknownArguments(args)).toEqual([])
  })

  it('installs for running without the tools of developers, and leaves nothing that installs', () => {
    expect(image.runs['dependencies']).toEqual(['npm ci --omit=dev --ignore-scripts --no-audit --no-fund'])
    const removed = image.runs['']?.join() ?? ''
    for (const tool of ['npm', 'npx', 'corepack', 'yarn']) expect(removed).toContain(`/usr/local/bin/${tool}`)
  })

  it('has the version of the program on its label', () => {
    expect(text).toContain(`org.opencontainers.image.version="${project.version}"`)
  })
})

it('.dockerignore lets in what the Dockerfile copies, and nothing else', () => {
  const [first, ...allowed] = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(first).toBe('*')
  const copied = [...image.copiesBefore, ...image.copies]
    .filter(({ stage }) => stage === null)
    .flatMap(({ from }) => from.map((path) => `!${path.replace(/\/$/, '')}`))
  expect(new Set(allowed)).toEqual(new Set(copied))
  expect(copied.filter((path) => !existsSync(join(ROOT, path.slice(1))))).toEqual([])
})
