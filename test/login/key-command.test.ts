/** A program that prints the key, and a file with the key that another program rotates. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { openSourceOf } from '../../src/app/configured-upstream.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'
import { SILENT } from '../support/syncing.ts'
import { startUpstream, status, type Upstream } from '../support/upstream.ts'

/** Makes an installation whose program is a script of the shell. */
function openWith(upstream: Upstream, script: string) {
  const cwd = folderWith({
    'leadsheet.yaml': `api: { url: "${upstream.url}", key_command: [./print-key, "an argument"] }`,
    'print-key': `#!/bin/sh\necho run >>runs\n${script}\n`,
  })
  chmodSync(join(cwd, 'print-key'), 0o700)
  const source = openSourceOf(loadConfig({ cwd, env: {} }), SILENT)
  onTestFinished(source.close)
  const runs = () => readFileSync(join(cwd, 'runs'), 'utf8').match(/run/g)?.length
  return { cwd, source, runs }
}

const keysOf = ({ requests }: Upstream) => requests.map(({ headers }) => headers.authorization)

test('the file with the key is read again when the upstream refuses the key', async () => {
  await using upstream = await startUpstream(3)
  const settings = `api: { url: "${upstream.url}", key_file: secrets/key }`
  const cwd = folderWith({ 'leadsheet.yaml': settings, 'secrets/key': 'the-old-key' })
  const source = openSourceOf(loadConfig({ cwd, env: {} }), SILENT)
  writeFileSync(join(cwd, 'secrets/key'), 'the-new-key\n')
  upstream.faults.push(status(401))
  expect((await source.listLeads({}, null, 10)).records).toHaveLength(3)
  expect(keysOf(upstream)).toEqual(['Bearer the-old-key', 'Bearer the-new-key'])
  await source.close()
})

describe('a program that prints the key', () => {
  it('is run once, and again after a refusal', async () => {
    await using upstream = await startUpstream(3)
    const { cwd, source, runs } = openWith(upstream, 'cat key')
    writeFileSync(join(cwd, 'key'), 'printed-key-1\n')
    await Promise.all([1, 2, 3].map(() => source.listLeads({}, null, 10)))
    expect(runs()).toBe(1)
    writeFileSync(join(cwd, 'key'), 'printed-key-2\n')
    upstream.faults.push(status(401))
    await source.listLeads({}, null, 10)
    expect(runs()).toBe(2)
    expect(keysOf(upstream)).toEqual([
      ...Array<string>(4).fill('Bearer printed-key-1'),
      'Bearer printed-key-2',
    ])
  })

  it('that prints the refused key again is told as what to look at', async () => {
    await using upstream = await startUpstream(3)
    const { source } = openWith(upstream, 'echo printed-key-1')
    upstream.faults.push(status(401))
    await expect(source.listLeads({}, null, 10)).rejects.toMatchObject({
      code: 'api_unauthorized',
      message: expect.stringContaining('does not accept the key that api.key_command printed (401)'),
      hint: expect.stringMatching(/^Run \.\/print-key yourself/),
    })
    expect(upstream.requests).toHaveLength(1)
  })

  it.each([
    ['echo "the key is hunter2" >&2; echo hunter2; exit 3', 'it ended with status 3'],
    ['true', 'it printed nothing'],
    ['echo hunter2; echo hunter3', 'it printed several lines'],
    ['echo hunter2–', 'it printed a character that a header cannot carry'],
    ['kill -TERM $$', 'it was ended by SIGTERM'],
    ['yes hunter2', 'it printed too much'],
    ['read -r answer; echo "$answer"', 'it printed nothing'],
    ['rm print-key; exec ./hunter2', 'it ended with status 127'],
  ])('that fails by %j gives no key, and nothing of what it said is quoted', async (script, reason) => {
    await using upstream = await startUpstream(3)
    const { source } = openWith(upstream, script)
    const failure = await source.listLeads({}, null, 10).catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({
      code: 'api_unauthorized',
      message: `api.key_command ./print-key gave no key: ${reason}`,
    })
    expect(JSON.stringify([failure, String(failure)])).not.toContain('hunter')
    expect(upstream.requests).toEqual([])
  })
})
