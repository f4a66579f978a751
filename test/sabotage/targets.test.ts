/** A quick check that the targets fit the source; `npm run test:sabotage` breaks them. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { listMutants } from './mutants.ts'
import { listTargets } from './targets.ts'

it.each(listTargets())('$file $of can be broken, and its tests are there', ({ file, of, tests }) => {
  const mutants = listMutants(file, readFileSync(file, 'utf8')).filter((mutant) => mutant.of === of)
  expect(mutants).not.toEqual([])
  expect(tests).not.toEqual([])
  expect(tests.filter((test) => !existsSync(test))).toEqual([])
})
