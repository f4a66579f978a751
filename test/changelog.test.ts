/**
 * Checks the changelog: every version is listed, the newest first, and the newest is the version of the
 * program.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const HEADING = /^## \d+\.\d+\.\d+ \((unreleased|\d{4}-\d{2}-\d{2})\)$/

const headings = readFileSync('CHANGELOG.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('## '))

it('each version has its number and its day, the newest is that of the program and stands first; it alone may be unreleased', () => {
  for (const heading of headings) expect(heading).toMatch(HEADING)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(headings[0]).toContain(`## ${version} (`)
  const inOrder = headings.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  expect(headings).toEqual(inOrder)
  const dates = headings.map((heading) => HEADING.exec(heading)?.[1])
  expect(dates.slice(1)).not.toContain('unreleased')
  const released = dates.filter((date) => date !== 'unreleased')
  expect(released).toEqual(released.toSorted().reverse())
})
