import { describe, expect, it } from 'vitest'
import { clockChanges, clockFindings, clockNote } from '../../src/schedule/clock-change.ts'
import { nextDueTime } from '../../src/schedule/scheduled-runs.ts'
import { timing } from '../support/schedule/schedule.ts'

const [FROM, TO] = [new Date('2026-11-21T12:00:00Z'), new Date('2027-12-31T00:00:00Z')]

describe('the clock of a zone', () => {
  it('changes at an instant, by so much', () => {
    expect(clockChanges('Europe/Vienna', FROM, TO)).toEqual([
      { at: new Date('2027-03-28T01:00:00Z'), forwardMs: 3_600_000 },
      { at: new Date('2027-10-31T01:00:00Z'), forwardMs: -3_600_000 },
    ])
    expect(clockChanges('Australia/Lord_Howe', FROM, TO).map(({ forwardMs }) => forwardMs)).toEqual([
      -1_800_000, 1_800_000,
    ])
    expect(clockChanges('Asia/Kathmandu', FROM, TO)).toEqual([])
  })
})

describe('times of a schedule', () => {
  it.each([
    ['30 2 * * *', 'Europe/Vienna', ['skipped 2027-03-28 02:30 03:00', 'doubled 2027-10-31 02:30 02:30']],
    ['every day at 00:15', 'America/Santiago', ['skipped 2027-09-05 00:15 01:00']],
    ['every day at 23:15', 'America/Santiago', ['doubled 2027-04-03 23:15 23:15']],
    [
      '30 1,2,3 * * *',
      'Antarctica/Troll',
      [
        'skipped 2027-03-28 01:30 03:00',
        'skipped 2027-03-28 02:30 03:00',
        'doubled 2027-10-31 01:30 01:30',
        'doubled 2027-10-31 02:30 02:30',
      ],
    ],
    ['every weekday at 02:30', 'Europe/Vienna', []],
    ['0 7 * * *', 'Europe/Vienna', []],
    ['30 2 * * *', 'Asia/Kathmandu', []],
    ['every 15 minutes', 'Europe/Vienna', []],
  ])('%s in %s that the clock jumps over or shows twice: %j', (expression, zone, problems) => {
    const found = clockFindings(timing(expression, zone), FROM, TO)
    expect(found.map(({ kind, time, shown }) => `${kind} ${time} ${shown}`)).toEqual(problems)
  })

  it('of a date that the zone leaves out are none', () => {
    const [from, to] = [new Date('2011-12-20'), new Date('2012-01-10')]
    expect(clockFindings(timing('0 7 * * *', 'Pacific/Apia'), from, to)).toEqual([])
  })
})

describe('what the clock does about a scheduled run', () => {
  function notesOf(expression: string, zone: string, from: string, count: number): (string | null)[] {
    const each = timing(expression, zone)
    const notes: (string | null)[] = []
    let previous = new Date(from)
    for (
      let due = nextDueTime(each, previous);
      due !== null && notes.length < count;
      due = nextDueTime(each, due.due_at)
    ) {
      notes.push(clockNote(each, due, previous))
      previous = due.due_at
    }
    return notes
  }

  it.each([
    ['30 2 * * *', 'Europe/Vienna', '2027-03-27T00:00Z', [null, 'there is no 02:30 on that day', null]],
    ['30 2 * * *', 'Europe/Vienna', '2027-10-30T00:00Z', [null, 'the first 02:30 of two', null]],
    ['0 4 * * *', 'Europe/Vienna', '2027-03-27T00:00Z', [null, null, null]],
    ['0 * * * *', 'Europe/Vienna', '2027-03-28T00:00Z', ['the clock goes from 02:00 to 03:00', null]],
    ['30 * * * *', 'Europe/Vienna', '2027-03-28T00:00Z', [null, 'the clock goes from 02:00 to 03:00', null]],
    [
      '0 * * * *',
      'Europe/Vienna',
      '2027-10-30T23:30Z',
      ['the first 02:00 of two', 'the second 02:00 of two', null],
    ],
  ])('%s in %s from %s on: %j', (expression, zone, from, notes) => {
    expect(notesOf(expression, zone, from, notes.length)).toEqual(notes)
  })
})
