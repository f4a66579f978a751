/** The lines that `demo --live` prints about changes. */
import { expect, it, onTestFinished } from 'vitest'
import { createLiveChanges } from '../../../src/cli/demo/live.ts'
import { event, follow, receive } from '../../support/data/events.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

const HAPPENED = '2026-11-20T14:00:10.000Z'
const BEFORE = '2026-11-20T12:00:00.000Z'
const DAY_AFTER = '2026-11-21T20:00'

/** Tells of two leads, one moved after an event and one new after two. Returns the lines in their order. */
async function tell(json: boolean): Promise<string[]> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  const acme = { companyName: 'Acme \u001b[2J Ltd.', createdAt: BEFORE }
  const before = lead('a', { ...acme, status: 'qualified', updatedAt: BEFORE, statusChangedAt: BEFORE })
  await save(store, [before], `${DAY_AFTER}:00.000Z`)
  const told: string[] = []
  const changes = createLiveChanges({ json, print: (...lines) => void told.push(...lines) }, () =>
    Date.parse(`${DAY_AFTER}:01.000Z`),
  )
  changes.notePlayed(new Date('2026-11-20T14:00:00Z'))
  changes.notePlayed(new Date('2026-11-20T14:02:00Z'))
  const moved = lead('a', {
    ...acme,
    ...{ status: 'contacted', updatedAt: HAPPENED, statusChangedAt: HAPPENED },
  })
  await receive(store, [event('1', { occurredAt: HAPPENED })], `${DAY_AFTER}:01.100Z`)
  await save(store, [moved], `${DAY_AFTER}:01.250Z`)
  await follow(store, 'a', { at: `${DAY_AFTER}:01.250Z`, outcome: 'updated' })
  const about = { occurredAt: HAPPENED, resourceId: 'b' }
  await receive(store, [event('2', about), event('3', about)], `${DAY_AFTER}:02.000Z`)
  await save(store, [lead('b', { companyName: 'Beta', status: 'discovered' })], `${DAY_AFTER}:02.500Z`)
  await follow(store, 'b', { at: `${DAY_AFTER}:02.500Z`, outcome: 'inserted' })
  await receive(store, [event('4')], `${DAY_AFTER}:03.000Z`)
  await follow(store, 'a', { at: `${DAY_AFTER}:03.100Z`, outcome: 'unchanged' })

  const stop = new AbortController()
  const telling = changes.tell(store, stop.signal)
  await expect.poll(() => told.length).toBeGreaterThan(0)
  stop.abort()
  await telling
  return told
}

it('is a line each, with when it was in the copy and how long after the service had it', async () => {
  expect(await tell(false)).toEqual([
    expect.stringMatching(/^\d\d:00:01 {4}0\.25 s {2}Acme {2,}\[2J Ltd\. +qualified → contacted$/),
    expect.stringMatching(/^\d\d:00:02 {4}1\.50 s {2}Beta +new, discovered$/),
    '',
    '2 changes came by events: half of them within 0.25 s, the slowest within 1.50 s.',
  ])
})

it('is a line of JSON each for machines', async () => {
  const lines = (await tell(true)).map((line) => JSON.parse(line).data)
  expect(lines).toEqual([
    expect.objectContaining({ lead: 'a', from: 'qualified', to: 'contacted', seconds: 0.25 }),
    expect.objectContaining({ lead: 'b', outcome: 'inserted', seconds: 1.5 }),
  ])
})
