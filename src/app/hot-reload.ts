/**
 * Loads changed settings into the daemon while its process keeps running. The new settings are checked first,
 * while the daemon still runs with the old settings. If the new settings pass, the old daemon stops and a
 * daemon with the new settings starts.
 */

import { closeSync, openSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { changedSettings } from '../config/config.ts'
import { errorText, LeadsheetError } from '../errors.ts'
import { createSerialTask, openOwnQueue } from '../jobs/schedule/serial-task.ts'
import type { Log } from '../log.ts'
import { readVersion } from '../packages.ts'
import { nameOf } from '../store/db/place.ts'
import type { Store } from '../store/db/store.ts'
import type { ConfigLoad } from '../store/schedule/uptime.ts'
import { addConfigLoad } from '../store/schedule/uptime.ts'
import type { ConfiguredDaemon, RunningDaemon } from './configured-daemon.ts'
import { openConfiguredDaemon } from './configured-daemon.ts'
import { tryReports } from './configured-reports.ts'
import { storeAddressOf, storePlaceOf } from './installation.ts'

export interface ReloadDeps {
  readonly terminal: {
    readonly signal: AbortSignal
    /**
     * Reads the settings again.
     * @throws LeadsheetError config_invalid
     */
    readConfigAnew(): Promise<Config>
    /** Sets the log level that these settings name, and logs warnings about these settings. */
    logAs(config: Config): Promise<void>
  }
  readonly store: Store
  readonly log: Log
  /**
   * Receives the function that starts a reload. Before the first daemon is built, and after the program
   * begins to stop, that function does nothing.
   */
  readonly takeReload: (reload: () => void) => void
  /** Called each time a daemon has started, with the daemon and its settings. */
  readonly tellStarted: (config: Config, running: RunningDaemon) => void
}

/** Settings that passed all checks, and the daemon that is built from them. */
interface Reading {
  readonly config: Config
  /** The time just before the settings were read. */
  readonly at: Date
  readonly daemon: ConfiguredDaemon
}

/**
 * Runs daemons until the terminal's signal is aborted. At a reload, a new daemon replaces the old one.
 * @param config the first settings
 * @param at the time at which the first settings were read
 * @throws LeadsheetError for mistakes in the first settings, job_busy, web_port
 */
export async function runThroughReloads(deps: ReloadDeps, config: Config, at: Date): Promise<void> {
  const { terminal, log } = deps
  /**
   * The settings of the previous daemon; null if there was none. They are used again if the daemon with the
   * new settings cannot start.
   */
  let before: Config | null = null
  let next: Reading | null = await open(deps, config, at)
  let change = new AbortController()
  const reloading = createSerialTask(openOwnQueue(log), 'reload', async () => {
    const readAt = new Date()
    const found = await readAnew(deps, config, readAt).catch((thrown: unknown) =>
      refuse(deps, thrown, readAt),
    )
    if (found === null) return
    await next?.daemon[Symbol.asyncDispose]()
    next = found
    change.abort(new LeadsheetError('run_interrupted', 'put down to go over to new settings'))
  })
  reloading.open(terminal.signal)
  deps.takeReload(reloading.wake)
  try {
    while (next !== null && !terminal.signal.aborted) {
      const turn: Reading = next
      ;[next, change] = [null, new AbortController()]
      const hasRun = await runTurn(deps, turn, before, AbortSignal.any([terminal.signal, change.signal]))
      await reloading.idle()
      if (hasRun) before = turn.config
      else if (next === null && before !== null) {
        next = await open(deps, before, new Date())
        before = null
      }
    }
  } finally {
    // A reload may have opened a daemon that will never run. That daemon is closed here.
    await reloading.idle()
    await next?.daemon[Symbol.asyncDispose]()
  }
}

/**
 * Runs one daemon until it stops. Returns false if the daemon could not start but earlier settings (`before`)
 * can be used again.
 * @throws unknown any other error that stopped the daemon or kept it from starting
 */
async function runTurn(
  deps: ReloadDeps,
  { config, at, daemon }: Reading,
  before: Config | null,
  signal: AbortSignal,
): Promise<boolean> {
  let isStarted = false
  try {
    await using turn = daemon
    const onStarted = async (running: RunningDaemon): Promise<void> => {
      const changed = before && changedSettings(before, config)
      await noteReading(deps.store, { at, refused: null, changed })
      isStarted = true
      if (changed !== null) {
        await deps.terminal.logAs(config)
        deps.log.info({ changed }, 'the settings are in force')
      }
      deps.tellStarted(config, running)
    }
    // Only a daemon without earlier settings waits for a taken port. If there are earlier settings, a taken
    // port is an error, and the daemon runs with the earlier settings again.
    await turn.run(signal, onStarted, before === null)
    return true
  } catch (thrown) {
    if (isStarted || before === null || !(thrown instanceof LeadsheetError)) throw thrown
    await refuse(deps, thrown, at)
    return false
  }
}

async function readAnew({ terminal, ...deps }: ReloadDeps, first: Config, at: Date): Promise<Reading> {
  deps.log.info('the settings are read anew')
  const config = await terminal.readConfigAnew()
  if (config.dataDir !== first.dataDir) {
    throw new LeadsheetError(
      'config_invalid',
      `data_dir cannot change while the daemon runs: it is ${first.dataDir}, and would be ${config.dataDir}`,
      { hint: 'Stop the daemon, move what is in it, and start the daemon again.' },
    )
  }
  if (storeAddressOf(config) !== storeAddressOf(first)) {
    throw new LeadsheetError(
      'config_invalid',
      `database_url cannot change while the daemon runs on ${nameOf(storePlaceOf(first))}`,
      { hint: 'Stop the daemon, and start it again: then it runs on the other one.' },
    )
  }
  return open({ terminal, ...deps }, config, at)
}

async function open({ terminal, store, log }: ReloadDeps, config: Config, at: Date): Promise<Reading> {
  await tryReports(config, terminal.signal)
  return { config, at, daemon: await openConfiguredDaemon(config, store, log) }
}

/** Logs and stores why new settings are not used. */
async function refuse({ terminal, store, log }: ReloadDeps, thrown: unknown, at: Date): Promise<null> {
  if (terminal.signal.aborted) return null
  const fields = thrown instanceof LeadsheetError ? { code: thrown.code } : { err: thrown }
  log.error(fields, `the settings of before stay in force: ${errorText(thrown)}`)
  await noteReading(store, { at, refused: errorText(thrown), changed: null })
  return null
}

function noteReading(
  store: Store,
  { at, ...outcome }: Pick<ConfigLoad, 'refused' | 'changed'> & { readonly at: Date },
): Promise<void> {
  const reading = { at: at.toISOString(), ...outcome, program: readVersion() }
  return store.write((trx) => addConfigLoad(trx, reading))
}

/**
 * Handles SIGHUP. The signal can mean that an operator asks for a reload, or that the terminal was closed.
 * @param reload called unless the terminal was closed; if it was closed, the process stops
 */
export function onHangUp(reload: () => void): Disposable {
  const listener = (): void => {
    if (hasTerminalGone()) process.kill(process.pid, 'SIGTERM')
    else reload()
  }
  process.on('SIGHUP', listener)
  return { [Symbol.dispose]: () => void process.off('SIGHUP', listener) }
}

/**
 * Returns true if the process was started in a terminal that has since been closed. The daemon then stops,
 * because nobody would watch it.
 */
function hasTerminalGone(): boolean {
  if (!process.stderr.isTTY) return false
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return false
  } catch {
    return true
  }
}
