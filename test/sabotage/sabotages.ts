/** All sabotages, in the order in which they are tried. */
import { OF_DATA } from './of-data.ts'
import { OF_MAIL } from './of-mail.ts'
import { OF_OPERATION } from './of-operation.ts'
import { OF_TIME } from './of-time.ts'
import type { Sabotage } from './sabotage.ts'

export const SABOTAGES: readonly Sabotage[] = [...OF_DATA, ...OF_TIME, ...OF_MAIL, ...OF_OPERATION]
