import { expect, test } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

test('a key is created, listed without being shown, and revoked once', async () => {
  const cwd = folderWith()
  const run = (args: string) => runWarm(args.split(' '), { cwd })

  const created = await run('service keys create --name nightly --scope write --json')
  const { key } = JSON.parse(created.stdout).data
  expect(created).toMatchObject({ status: 0, stderr: '' })

  const list = await run('service keys list --json')
  expect(list.stdout).not.toContain(key)
  const [listed] = JSON.parse(list.stdout).data
  expect(listed).toMatchObject({ name: 'nightly', scope: 'write', revoked_at: null })
  expect(key.startsWith(listed.prefix)).toBe(true)

  expect((await run(`service keys revoke ${listed.id}`)).status).toBe(0)
  expect((await run('service keys list')).stdout).toMatch(/nightly +write +\S+… +\S+ \S+Z +\d{4}-\d\d-\d\d/)
  expect(await run(`service keys revoke ${listed.id}`)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(`there is no key ${listed.id} that could be revoked`),
  })
})

test('a directory without a service is named, and left as it is', async () => {
  const cwd = folderWith()
  const { status, stderr } = await runWarm(['service', 'keys', 'list', '--data', 'nowhere'], { cwd })
  expect(status).toBe(2)
  expect(stderr).toContain('there is no service in nowhere')
  expect((await runWarm(['service', 'keys', 'revoke', 'key_1', '--data', 'nowhere'], { cwd })).status).toBe(2)
})
