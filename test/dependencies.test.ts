/** What docs/dependencies.md promises of the packages. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const { dependencies }: { dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

test('each package has its reason, and no reason is of a package that went', () => {
  const [, uses = ''] = readFileSync('docs/dependencies.md', 'utf8').split('## What each is for')
  const [table = ''] = uses.split('## What was tried')
  const rows = [...table.matchAll(/^\| `([^`]+)` \| \S/gm)].map(([, name]) => name)
  expect(rows).toEqual(Object.keys(dependencies))
})

test('there are at most 24, each with an exact version', () => {
  expect(Object.keys(dependencies).length).toBeLessThanOrEqual(24)
  const loose = Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
  expect(loose).toEqual([])
})
