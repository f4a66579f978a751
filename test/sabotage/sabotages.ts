/** All sabotages in the order in which they are tried, and a check that they still fit the source. */
import { errorText } from '../../src/errors.ts'
import { findTest } from '../support/docs/named-test.ts'
import { OF_DATA } from './of-data.ts'
import { OF_MAIL } from './of-mail.ts'
import { OF_OPERATION } from './of-operation.ts'
import { OF_TIME } from './of-time.ts'
import { fileOf } from './project-copy.ts'
import type { Sabotage } from './sabotage.ts'

export const SABOTAGES: readonly Sabotage[] = [...OF_DATA, ...OF_TIME, ...OF_MAIL, ...OF_OPERATION]

/** Lists the texts and test titles of a sabotage that are not in the project, or more than once. */
export function listMisfits({ edits, caughtBy }: Sabotage): string[] {
  const looks = [
    ...edits.map((edit) => () => fileOf('.', edit)),
    ...caughtBy.map(
      ({ title }) =>
        () =>
          findTest(title),
    ),
  ]
  return looks.flatMap((look) => {
    try {
      look()
      return []
    } catch (thrown) {
      return [errorText(thrown)]
    }
  })
}
