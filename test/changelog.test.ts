/**
 * Checks the changelog: every version is listed, the newest first, and the newest is the version of the
 * program.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const HEADING = /^## (\d+)\.(\d+)\.(\d+) \((unreleased|\d{4}-\d{2}-\d{2})\)$/

const changelog = readFileSync('CHANGELOG.md', 'utf8')
const lines = changelog.split('\n')
const headings = lines.filter((line) => line.startsWith('## '))
const versions = headings.map((heading) => {
  const [, major, minor, patch, date = ''] = HEADING.exec(heading) ?? []
  return { number: [major, minor, patch].map(Number), date }
})

it('each version has its number, and the day it was released or that it was not', () => {
  expect(headings).not.toEqual([])
  for (const heading of headings) expect(heading).toMatch(HEADING)
})

it('the first is that of the program, and alone may be unreleased', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(headings[0]).toContain(`## ${version} (`)
  expect(versions.slice(1).filter(({ date }) => date === 'unreleased')).toEqual([])
})

it('the newest stands first, by number and by day', () => {
  const rank = ({ number }: (typeof versions)[number]) =>
    number.reduce((sum, part) => sum * 1_000_000 + part, 0)
  expect(versions.map(rank)).toEqual(versions.map(rank).toSorted((a, b) => b - a))
  const dates = versions.map(({ date }) => date).filter((date) => date !== 'unreleased')
  expect(dates).toEqual(dates.toSorted().reverse())
})
