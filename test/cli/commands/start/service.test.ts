// @long
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { finished, startLeadsheet } from '../../../support/leadsheet.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

describe('service run', () => {
  test('prints an address and a key that work, has the faults of a file, and leaves with 0 when it is told to stop', async () => {
    const cwd = folderWith({
      'faults.yaml':
        'faults: [{ fault: status, status: 503, body: down for the day, path: /pipelines/pl_emea/stats }]',
    })
    // The environment of the image. Its address of the pages is for the daemon.
    const image = { LEADSHEET_WEB_LISTEN: '0.0.0.0:8080' }
    const args = ['service', 'run', '--port', '0', '--key-file', 'key', '--faults', 'faults.yaml', '--json']
    const serving = startLeadsheet(args, { cwd, env: image })
    const said = await firstObject(serving.stdout)
    expect(readFileSync(join(cwd, 'key'), 'utf8')).toBe(`${said.key}\n`)
    expect(statSync(join(cwd, 'key')).mode & 0o777).toBe(0o600)
    expect(said).toMatchObject({ scope: 'write', database: `${cwd}/data/service/service.db` })

    const env = { LEADSHEET_API_URL: String(said.url), LEADSHEET_API_KEY: String(said.key) }
    const agents = await runWarm(['agents', '--json'], { cwd, env })
    expect(JSON.parse(agents.stdout).data.length).toBeGreaterThan(3)

    const answer = await fetch(`${said.url}/pipelines/pl_emea/stats`)
    expect([answer.status, await answer.text()]).toEqual([503, 'down for the day'])

    const leaving = finished(serving)
    serving.kill('SIGTERM')
    const { status, stderr } = await leaving
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('dashboard')])
  })
})

/** Reads the first JSON object of a stream that does not end. */
async function firstObject(stream: Readable | null): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of stream?.iterator({ destroyOnReturn: false }) ?? []) {
    text += chunk
    if (text.trimEnd().endsWith('}')) return JSON.parse(text).data
  }
  throw new Error(`the stream ended before an object: ${text}`)
}
