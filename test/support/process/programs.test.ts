/** `test/bare.sh` tests that the suite passes without programs that npm does not bring. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const PLACE = /'\/usr\/(?:s?bin|lib|share)\/[^' ]+'/

it('what lies outside of the path is looked for by findInstalled, which can be told to find nothing', () => {
  const cwd = join(import.meta.dirname, '../..')
  const naming = globSync('**/*.ts', { cwd, exclude: (name) => name.includes('node_modules') }).filter(
    (file) => PLACE.test(readFileSync(join(cwd, file), 'utf8')),
  )
  expect(naming).toContain('support/web/browser.ts')
  const besides = naming.filter((file) => !/findInstalled[()]/.test(readFileSync(join(cwd, file), 'utf8')))
  expect(besides).toEqual([])
})
