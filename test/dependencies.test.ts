/** Checks the promises on the page about dependencies. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const { dependencies }: { dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

test('there are at most 24, each with an exact version', () => {
  expect(Object.keys(dependencies).length).toBeLessThanOrEqual(24)
  const loose = Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
  expect(loose).toEqual([])
})
