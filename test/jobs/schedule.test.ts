import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../src/errors.ts'
import { noteSlots } from '../../src/jobs/note-slots.ts'
import { runDue } from '../../src/jobs/run-due.ts'
import type { Schedule } from '../../src/jobs/schedule.ts'
import { nextSlot } from '../../src/schedule/slots.ts'
import { openStore } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { scheduleOf, timing } from '../support/schedule.ts'
import { SILENT } from '../support/syncing.ts'

const signal = new AbortController().signal

async function openSchedule(settings: Partial<Schedule> = {}) {
  const clock = { now: new Date('2026-11-20T06:30:00Z') }
  const store = await openStore(`${folderWith()}/leadsheet.db`, clock.now)
  const ran: string[] = []
  const schedule = scheduleOf({
    run: async ({ slot }) => {
      ran.push(slot.toISOString())
      return { state: 'done', message: null }
    },
    ...settings,
  })
  const tick = async (at: string): Promise<void> => {
    clock.now = new Date(at)
    await noteSlots(store, schedule, clock.now)
    await runDue({ store, log: SILENT, now: () => clock.now }, schedule, signal)
  }
  const slots = async () => {
    const rows = await store.db.selectFrom('schedule_slot').selectAll().orderBy('slot').execute()
    return rows.map((row) => [row.slot, row.state])
  }
  return { store, schedule, ran, tick, slots, [Symbol.asyncDispose]: store.close }
}

describe('a schedule', () => {
  it('runs a slot once, however often the clock ticks', async () => {
    await using daily = await openSchedule()
    for (const at of [
      '2026-11-20T06:30:00Z',
      '2026-11-20T06:59:59Z',
      '2026-11-20T07:00:00Z',
      '2026-11-20T07:00:40Z',
      '2026-11-20T07:01:00Z',
    ])
      await daily.tick(at)
    expect(daily.ran).toEqual(['2026-11-20T07:00:00.000Z'])
  })

  it('runs a slot late when nothing ran at its time', async () => {
    await using daily = await openSchedule()
    await daily.tick('2026-11-20T06:30:00Z')
    await daily.tick('2026-11-20T09:12:00Z')
    expect(daily.ran).toEqual(['2026-11-20T07:00:00.000Z'])
  })

  it('runs only the latest of several missed slots, and shows the others', async () => {
    await using daily = await openSchedule()
    await daily.tick('2026-11-20T06:30:00Z')
    await daily.tick('2026-11-23T09:00:00Z')
    expect(daily.ran).toEqual(['2026-11-23T07:00:00.000Z'])
    expect(await daily.slots()).toEqual([
      ['2026-11-20T06:30:00.000Z', 'skipped'],
      ['2026-11-20T07:00:00.000Z', 'skipped'],
      ['2026-11-21T07:00:00.000Z', 'skipped'],
      ['2026-11-22T07:00:00.000Z', 'skipped'],
      ['2026-11-23T07:00:00.000Z', 'done'],
    ])
  })

  it('does not run again when the clock goes back', async () => {
    await using daily = await openSchedule()
    await daily.tick('2026-11-20T06:30:00Z')
    await daily.tick('2026-11-20T07:00:00Z')
    await daily.tick('2026-11-20T06:00:00Z')
    await daily.tick('2026-11-20T07:00:00Z')
    expect(daily.ran).toHaveLength(1)
  })

  it('goes on at once after a clock that was years ahead, and after one that was years behind', async () => {
    await using daily = await openSchedule({ timing: timing('* * * * *') })
    await daily.tick('2031-01-01T00:00:30Z')
    await daily.tick('1970-01-01T00:00:30Z')
    await daily.tick('2026-11-20T07:00:30Z')
    await daily.tick('2026-11-20T07:01:30Z')
    expect(daily.ran).toEqual(['2026-11-20T07:00:00.000Z', '2026-11-20T07:01:00.000Z'])
    expect(await daily.slots()).toHaveLength(2 + 400 + 1)
  })

  it('runs at once when it is first seen, if that is asked for', async () => {
    await using first = await openSchedule({ runsAtFirstSight: true })
    await first.tick('2026-11-20T06:30:00Z')
    expect(first.ran).toEqual(['2026-11-20T06:30:00.000Z'])
  })

  it('notes a failure and goes on with the next slot', async () => {
    await using daily = await openSchedule({
      run: async () => {
        throw new LeadsheetError('report_no_data', 'nothing to report')
      },
    })
    await daily.tick('2026-11-20T06:30:00Z')
    await daily.tick('2026-11-20T07:00:00Z')
    await daily.tick('2026-11-21T07:00:00Z')
    expect((await daily.slots()).map((slot) => slot[1])).toEqual(['skipped', 'failed', 'failed'])
  })

  it('takes a slot up again that was stopped half-way, or that a killed process left running', async () => {
    let isStopped = true
    await using daily = await openSchedule({
      run: async () =>
        isStopped
          ? { state: 'again', message: 'stopped', notBefore: null }
          : { state: 'done', message: null },
    })
    await daily.tick('2026-11-20T06:30:00Z')
    await daily.tick('2026-11-20T07:00:00Z')
    expect((await daily.slots()).at(-1)).toEqual(['2026-11-20T07:00:00.000Z', 'due'])
    await daily.store.db
      .updateTable('schedule_slot')
      .where('state', '=', 'due')
      .set({ state: 'running' })
      .execute()
    isStopped = false
    await daily.tick('2026-11-20T07:01:00Z')
    expect((await daily.slots()).at(-1)).toEqual(['2026-11-20T07:00:00.000Z', 'done'])
  })

  it('reports once each local day over both clock changes of a year', async () => {
    await using daily = await openSchedule({ timing: timing('30 2 * * *', 'Europe/Vienna') })
    const localDay = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Vienna' })
    for (const [from, days] of [
      ['2026-03-27', 4],
      ['2026-10-23', 4],
    ] as const) {
      daily.ran.length = 0
      await daily.store.db.deleteFrom('schedule_slot').execute()
      const start = Date.parse(`${from}T12:00:00Z`)
      for (let minute = 0; minute <= days * 24 * 60; minute += 10) {
        await daily.tick(new Date(start + minute * 60_000).toISOString())
      }
      const ran = daily.ran.map((slot) => localDay.format(new Date(slot)))
      expect(ran).toHaveLength(days)
      expect(new Set(ran).size).toBe(days)
    }
  })

  it('takes the first moment after a gap of the clocks, and the first of two equal times', () => {
    const at = timing('30 2 * * *', 'Europe/Vienna')
    expect(nextSlot(at, new Date('2026-03-28T12:00:00Z'))?.toISOString()).toBe('2026-03-29T01:00:00.000Z')
    expect(nextSlot(at, new Date('2026-10-24T12:00:00Z'))?.toISOString()).toBe('2026-10-25T00:30:00.000Z')
  })
})
