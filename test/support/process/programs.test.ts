/**
 * Tests the messages about missing programs. `test/bare.sh` tests that the suite passes without them.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { summaryOf } from './not-tested.ts'

const PLACE = /'\/usr\/(?:s?bin|lib|share)\/[^' ]+'/

describe('what a run does not test', () => {
  it('is told in its end, with the one line that installs all of it', () => {
    const skips = [
      'the store in PostgreSQL: apt-get install postgresql',
      'messages through real mail servers: only root can start it; apt-get install dovecot-imapd dovecot-lmtpd',
      'a sync from json-server: npm ci --prefix test/foreign',
      'copies by Litestream: npm ci --prefix test/foreign',
    ]
    expect(summaryOf(skips).slice(-2)).toEqual([
      'To test that too:',
      '  apt-get install dovecot-imapd dovecot-lmtpd postgresql && npm ci --prefix test/foreign',
    ])
    expect(summaryOf(skips.slice(0, 1))).toContain('  the store in PostgreSQL: apt-get install postgresql')
  })

  it('has no line that installs it where nothing can be installed', () => {
    expect(summaryOf(['a disk that is full: it needs root'])).toEqual([
      '',
      'Not tested on this machine:',
      '  a disk that is full: it needs root',
    ])
  })
})

it('what lies outside of the path is looked for by findInstalled, which can be told to find nothing', () => {
  const cwd = join(import.meta.dirname, '../..')
  const naming = globSync('**/*.ts', { cwd, exclude: (name) => name.includes('node_modules') }).filter(
    (file) => PLACE.test(readFileSync(join(cwd, file), 'utf8')),
  )
  expect(naming).toContain('support/web/browser.ts')
  const besides = naming.filter((file) => !/findInstalled[()]/.test(readFileSync(join(cwd, file), 'utf8')))
  expect(besides).toEqual([])
})
