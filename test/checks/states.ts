/** States of an installation, and what the checks tell operators in each, as a golden file shows it. */
import { hostname } from 'node:os'
import { expect } from 'vitest'
import { type Installation, type Knowledge, readFacts } from '../../src/checks/check.ts'
import { type AlertFindings, type Found, findForAlerts } from '../../src/checks/run-checks.ts'
import type { Store } from '../../src/store/db/store.ts'
import { openEmptyStore } from '../support/store.ts'
import { bareInstallation } from '../support/web/installation.ts'

export const NOW = new Date('2026-11-21T12:00:00Z')

/** The changes of a state in the settings and in the knowledge of the daemon. */
export type Change = Partial<Installation> & Omit<Knowledge, 'isDaemon'>

/** Returns the lines of what is found in a store. */
type Tell = (store: Store, change: Change, now: Date) => Promise<readonly string[]>

/** Brings an empty store into a state. `look` tells what the checks find then; by default nothing is changed. */
export type State = (
  store: Store,
  look: (when: string, change?: Change, now?: Date) => Promise<void>,
) => Promise<unknown>

export function minutesAgo(minutes: number): string {
  return later(-minutes).toISOString()
}

export function later(minutes: number): Date {
  return new Date(NOW.getTime() + minutes * 60_000)
}

/** The daemon knows of nothing, unless a state says otherwise. */
const KNOWN: Knowledge = {
  isDaemon: true,
  clockAheadMs: () => 0,
  clockDoubt: () => null,
  lastFault: () => null,
  snapshotFault: () => null,
  findViolations: async () => [],
}

/** Runs all checks that open alerts. Those that fail are added to `failed`. */
export async function findIn(
  store: Store,
  change: Change = {},
  now = NOW,
  failed: string[] = [],
): Promise<AlertFindings> {
  const settings = { reports: ['daily'], mailServer: 'smtp://mail.example.com:587', ...change }
  const facts = readFacts(bareInstallation(store, settings), { ...KNOWN, ...change }, now)
  return findForAlerts(facts, (_, check) => failed.push(check))
}

/** Compares what is told in each state, look by look, with the golden file of the area. */
export async function expectTold(
  area: string,
  states: Readonly<Record<string, State>>,
  tell: Tell = tellAlerts,
): Promise<void> {
  const told: string[] = []
  for (const [name, arrange] of Object.entries(states)) {
    await using store = await openEmptyStore()
    told.push(`${area}: ${name}`)
    await arrange(store, async (when, change = {}, now = NOW) => {
      const lines = await tell(store, change, now)
      told.push(lines.length > 0 ? `  ${when}:\n${lines.join('\n')}` : `  ${when}: nothing`)
    })
    told.push('')
  }
  const text = told
    .join('\n')
    .replaceAll(`process ${process.pid} on ${hostname()}`, 'process PID on HOST')
    .replaceAll(/\/\S*(?=\/(?:leadsheet\.yaml|webhook\.json))/g, 'FOLDER')
  await expect(text).toMatchFileSnapshot(`golden/${area.replaceAll(/\W+/g, '-')}.txt`)
}

const tellAlerts: Tell = async (store, change, now) => {
  const failed: string[] = []
  const { findings, unknown } = await findIn(store, change, now, failed)
  const unsure = [...unknown].map(
    (check) => `    ${check} ${failed.includes(check) ? 'failed' : 'is as before'}`,
  )
  return [...findings.map(textOf).sort(), ...unsure]
}

function textOf({ check, subject, failures, severity, brief, message, hint }: Found): string {
  const about = [check, subject, failures && `failures: ${failures}`, severity].filter(Boolean).join(', ')
  const shown = brief === undefined || brief === message ? [] : [`in public: ${brief}`]
  return `    ${[about, message, ...shown, `-> ${hint}`].join('\n      ')}`
}
