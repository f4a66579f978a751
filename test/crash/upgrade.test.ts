/** An upgrade that is killed with all its processes, as a container is. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { checkBackup } from '../../src/store/backup/backup-check.ts'
import { folderWith } from '../support/folder.ts'
import { makeOlderStore, THIRD_SCHEMA } from '../support/older-store.ts'
import { random } from '../support/random.ts'
import { run } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { copyOf, databaseIn } from './support/world.ts'

const KILLS = IS_FULL ? 20 : 1
const STEPS = ['copied', 'brought to the schema'] as const
/** About as long as a process of its own needs to begin and do its part. */
const LATER_MS = 150
const MAIN = join(import.meta.dirname, 'support/upgrade-store.ts')

/** Starts it in a group of its own, and kills the group some time after a step has begun. */
async function killAfter(folder: string, step: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [MAIN, databaseIn(folder)], { detached: true })
  const lines = createInterface(child.stdout)
  for await (const line of lines) {
    if (!line.includes(step)) continue
    await sleep(afterMs)
    break
  }
  // It may have ended by itself.
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGKILL')
  await ended
}

function migrationsIn(file: string): number {
  const database = new Database(file)
  const count = database.prepare<[], number>('SELECT count(*) FROM kysely_migration').pluck().get()
  database.close()
  return count ?? 0
}

it.each(STEPS)(
  `an upgrade that is killed while the database is %s leaves it as it was or as it is to be, and the next start ends it; ${KILLS} kills, SEED=${SEED} (row 40)`,
  async (step) => {
    const next = random(SEED)
    const base = folderWith({ 'data/.keep': '' })
    await makeOlderStore(databaseIn(base), THIRD_SCHEMA)
    const copies = folderWith()
    const whole = copyOf(base, copies, 'whole')
    const program = (folder: string) => ({ main: MAIN, args: [databaseIn(folder)], cwd: folder, env: {} })
    expect(await run(program(whole))).toMatchObject({ status: 0 })
    const present = migrationsIn(databaseIn(whole))
    expect(present).toBeGreaterThan(3)
    for (let kill = 0; kill < KILLS; kill++) {
      const folder = copyOf(base, copies, `${step} ${kill}`)
      const file = databaseIn(folder)
      await killAfter(folder, step, Math.floor(next() * LATER_MS))
      expect([3, present]).toContain(migrationsIn(file))
      expect(await run(program(folder))).toMatchObject({ status: 0 })
      expect(migrationsIn(file)).toBe(present)
      await expectSound(file)
      for (const name of readdirSync(join(file, '../backups'))) {
        expect(checkBackup(join(file, '../backups', name))).toMatchObject({ rows: { lead: 3 } })
      }
    }
  },
  600_000,
)
