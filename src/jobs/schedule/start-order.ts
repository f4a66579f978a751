/**
 * Which scheduled runs may be begun beside what other workers do: as in the one lane of a single daemon, no report runs beside
 * the sync that it needs, and what is due waits for the sync that is due before it.
 */

import type { Db } from '../../store/db/store.ts'
import { listHeldLeases } from '../../store/schedule/lease.ts'
import { isAnyOpen } from '../../store/schedule/scheduled-run.ts'
import { type Schedule, SYNC_LEASE } from './schedule.ts'

/** Lists the leases of the schedules of which something is due, each once. */
export async function listDueLeases(
  db: Db,
  schedules: readonly Schedule[],
  now: Date,
): Promise<readonly string[]> {
  const due = new Set<string>()
  for (const { name, leaseName } of schedules)
    if (await isAnyOpen(db, name, now.toISOString())) due.add(leaseName)
  return [...due]
}

/** Leaves the reports out while a sync is due. */
export async function listStartableLeases(
  db: Db,
  schedules: readonly Schedule[],
  now: Date,
): Promise<readonly string[]> {
  const due = await listDueLeases(db, schedules, now)
  return due.includes(SYNC_LEASE) ? [SYNC_LEASE] : due
}

export async function mayBegin(
  db: Db,
  schedules: readonly Schedule[],
  { leaseName }: Schedule,
  now: Date,
): Promise<boolean> {
  if (leaseName !== SYNC_LEASE) return !(await listDueLeases(db, schedules, now)).includes(SYNC_LEASE)
  const others = new Set(
    schedules.map((schedule) => schedule.leaseName).filter((name) => name !== SYNC_LEASE),
  )
  return !(await listHeldLeases(db, now)).some(({ name }) => others.has(name))
}
