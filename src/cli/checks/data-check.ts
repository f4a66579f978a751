/**
 * The checks of `leadsheet doctor` on the data. They check the folder, the database, the rules that its data
 * must keep, the age of the local copy, and open alerts.
 */

import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { installationOf } from '../../app/health-installation.ts'
import { openDataIfThere, pathsIn, storePlaceOf } from '../../app/installation.ts'
import type { DaemonState } from '../../checks/check.ts'
import {
  attempt,
  type CheckResult,
  fail,
  isInMemory,
  ok,
  type Part,
  readFacts,
  warn,
} from '../../checks/check.ts'
import { alertFacts, type PartResult, readHealth } from '../../checks/run-checks.ts'
import { readSettingsInForce } from '../../checks/settings.ts'
import type { Config } from '../../config/config.ts'
import { isWorldReadable } from '../../config/settings-file.ts'
import { errorText, shellCommand } from '../../errors.ts'
import { listAlerts } from '../../store/alerts/alert.ts'
import { DATA_MODE, makeFolder, readFileSystem } from '../../store/db/file-system.ts'
import { nameOf } from '../../store/db/place.ts'
import type { Store } from '../../store/db/store.ts'
import { checkAlertWays } from './delivery-check.ts'
import { checkInForce, checkPast, checkServer, checkSnapshot, checkStore } from './machine-check.ts'

interface DataFindings {
  readonly checks: readonly CheckResult[]
  readonly daemonState: DaemonState
}

const ALERTS_MAX = 20
/** The parts that are left out of the general checks, because other functions check them in more detail. */
const SHOWN_IN_FULL: readonly Part[] = ['snapshot', 'settings']
/**
 * The displayed names of some parts of the local copy. The plain names, such as `leads`, are not displayed
 * for these parts, because `doctor` uses the plain names for the checks of the upstream.
 */
const CALLED: { readonly [What in Part]?: string } = {
  leads: 'copy of leads',
  statistics: 'copy of stats',
  agents: 'copy of agents',
  schedules: 'scheduled runs',
  log: 'database log',
}

/** @param options.whole true reads even a large database completely */
export async function checkData(
  config: Config,
  options: { readonly whole: boolean; readonly now: Date },
): Promise<DataFindings> {
  const folder = await checkFolder(config)
  if (folder.status === 'fail') return { checks: [folder], daemonState: 'none' }
  const place = storePlaceOf(config)
  const checks = place.kind === 'sqlite' ? [folder, await checkFileSystem(config)] : [folder]
  let daemonState: DaemonState = 'none'
  const remedy =
    place.kind === 'sqlite'
      ? 'see docs/how-to/back-up-and-restore.md, "If the database is damaged"'
      : 'check database_url (LEADSHEET_DATABASE_URL), and that PostgreSQL runs there'
  const opened = await attempt('database', remedy, async () => {
    await using store = await openDataIfThere(config)
    if (isInMemory(store.place))
      return warn('database', `there is no ${nameOf(place)} yet`, `${shellCommand('sync')} makes it`)
    for await (const check of checkInside(store, config, options)) checks.push(check)
    daemonState = await readFacts(installationOf(config, store), {}, options.now).daemonState()
    return ok('database', nameOf(place))
  })
  if (opened.status !== 'ok') checks.push(opened)
  return { checks, daemonState }
}

async function* checkInside(
  store: Store,
  config: Config,
  { whole, now }: { readonly whole: boolean; readonly now: Date },
): AsyncGenerator<CheckResult> {
  yield ok('database', nameOf(store.place))
  if (store.place.kind === 'postgres') yield* checkServer(store.db)
  yield* checkStore(store, { whole, now })
  const past = await checkPast(store.db, now)
  if (past !== null) yield past
  const inForce = checkInForce(await readSettingsInForce(store.db, config.file, now))
  if (inForce !== null) yield inForce
  const { checks, freshness } = await readHealth(installationOf(config, store), now)
  const isNew = freshness.every(({ asOf }) => asOf === null)
  for (const part of checks.filter(({ what }) => !SHOWN_IN_FULL.includes(what))) {
    if (part.what !== 'database' || part.status !== 'ok') yield* resultsOf(part, isNew)
  }
  const isWanted = config.snapshot.when === 'after_sync'
  const snapshot = await checkSnapshot(store, pathsIn(config.dataDir).snapshot, isWanted)
  if (snapshot !== null) yield snapshot
  yield* checkAlertWays(store.db, config)
  const found = new Set(
    checks.flatMap(({ findings }) => findings.map(({ check, subject }) => `${check} ${subject}`)),
  )
  for (const { id, check, subject, message, hint } of await listAlerts(store.db, 'open', ALERTS_MAX)) {
    if (found.has(`${check} ${subject}`)) continue
    const about = subject === '' ? '' : ` · ${subject}`
    yield warn('alert', `No. ${id}, ${alertFacts(check).title}${about}: ${message}`, hint)
  }
}

/**
 * Returns one result for each finding (problem) of a part, with the finding's full message. Before the first
 * sync, missing leads are only a warning.
 */
function resultsOf({ what, found, findings }: PartResult, isNew: boolean): CheckResult[] {
  const called = CALLED[what] ?? what
  if (findings.length === 0) return [ok(called, found)]
  return findings.map(({ severity, message, hint }) =>
    (what === 'leads' && isNew ? warn : severity === 'fail' ? fail : warn)(called, message, hint),
  )
}

async function checkFolder(config: Config): Promise<CheckResult> {
  const { dataDir } = config
  const remedy = 'set data_dir (LEADSHEET_DATA_DIR) to a folder that this user may write to'
  try {
    await makeFolder(dataDir, remedy, DATA_MODE)
    await access(dataDir, constants.W_OK)
    const place = storePlaceOf(config)
    if (place.kind === 'sqlite' && existsSync(place.file) && isWorldReadable(place.file)) {
      return warn(
        'data directory',
        `every user of this machine can read ${place.file}, with recipients and the key of their links`,
        `stop the daemon and run \`chmod 600 ${place.file}*\``,
      )
    }
    return ok('data directory', `${dataDir} can be written`)
  } catch (thrown) {
    return fail('data directory', errorText(thrown), remedy)
  }
}

async function checkFileSystem({ dataDir, allowNetworkFs }: Config): Promise<CheckResult> {
  const { name, isLasting, isNetwork } = await readFileSystem(dataDir)
  if (isNetwork) {
    return (allowNetworkFs ? warn : fail)(
      'file system',
      `${name}: SQLite can lose data on a network`,
      'set data_dir (LEADSHEET_DATA_DIR) to a local disk or volume',
    )
  }
  return isLasting
    ? ok('file system', name)
    : warn(
        'file system',
        `${name}: what is on it is gone with the container or the machine`,
        'set data_dir (LEADSHEET_DATA_DIR) to a disk, or mount a volume there',
      )
}
