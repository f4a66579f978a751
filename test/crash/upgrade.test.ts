/** An upgrade is killed with all its processes, as happens to a container. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { checkBackup } from '../../src/store/backup/backup-check.ts'
import { ask } from '../support/data/publishing.ts'
import { folderWith } from '../support/folder.ts'
import { untilSaid } from '../support/process/daemon-address.ts'
import {
  makeNextVersion,
  makePresentStore,
  NEXT_SCHEMA,
  PRESENT_SCHEMA,
} from '../support/process/next-version.ts'
import { random } from '../support/random.ts'
import { type Program, run } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { copyOf, databaseIn } from './support/world.ts'

const KILLS = IS_FULL ? 20 : 1
const STEPS = ['copied', 'brought to the schema'] as const
/** About the time in which a process starts and does its work. */
const LATER_MS = 150
const MAIN = join(import.meta.dirname, 'support/upgrade-store.ts')

/** Starts the program in its own process group, and kills the group some time after a step has begun. */
async function killAfter(program: Program, step: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...program.args], { detached: true })
  await untilSaid(child.stdout, new RegExp(step))
  await sleep(afterMs)
  // The program may have ended by itself.
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGKILL')
  await ended
}

function migrationsIn(file: string): string[] {
  return ask<{ name: string }>(file, 'SELECT name FROM kysely_migration ORDER BY name').map(
    ({ name }) => name,
  )
}

it.each(STEPS)(
  `an upgrade that is killed while the database is %s leaves it as it was or as it is to be, and the next start ends it; ${KILLS} kills, SEED=${SEED}`,
  async (step) => {
    const next = random(SEED)
    const base = folderWith({ 'data/.keep': '' })
    await makePresentStore(databaseIn(base))
    const sources = makeNextVersion()
    const copies = folderWith()
    const whole = copyOf(base, copies, 'whole')
    const program = (cwd: string): Program => ({ main: MAIN, args: [databaseIn(cwd), sources], cwd, env: {} })
    expect(await run(program(whole))).toMatchObject({ status: 0 })
    expect(migrationsIn(databaseIn(whole))).toEqual(NEXT_SCHEMA)
    for (let kill = 0; kill < KILLS; kill++) {
      const folder = copyOf(base, copies, `${kill}`)
      const file = databaseIn(folder)
      await killAfter(program(folder), step, Math.floor(next() * LATER_MS))
      expect([PRESENT_SCHEMA, NEXT_SCHEMA]).toContainEqual(migrationsIn(file))
      expect(await run(program(folder))).toMatchObject({ status: 0 })
      expect(migrationsIn(file)).toEqual(NEXT_SCHEMA)
      await expectSound(file, [], sources)
      const backup = 'leadsheet-before-0.2.0.db'
      expect(readdirSync(join(file, '../backups'))).toEqual([backup])
      expect(checkBackup(join(file, '../backups', backup))).toMatchObject({ rows: { lead: 3 } })
    }
  },
)
