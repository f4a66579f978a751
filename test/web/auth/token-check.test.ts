/** Wrong tokens are answered later and later, and finally not at all. Sessions end. */
import { describe, expect, it } from 'vitest'
import { createSessions, createTokenCheck } from '../../../src/web/auth/session.ts'
import { signInPath } from '../../../src/web/auth/sign-in.ts'
import { safeRedirect } from '../../../src/web/server/headers.ts'
import { random } from '../../support/random.ts'

const SEED = Number(process.env.SEED ?? 1)
const TOKEN = 'correct-horse-battery'

function openCheck() {
  const clock = { now: new Date('2026-11-20T09:00:00Z') }
  const waited: number[] = []
  const check = createTokenCheck(
    TOKEN,
    () => clock.now,
    async (ms) => void waited.push(ms),
  )
  let given = 0
  const wrong = async (count: number, address: string) => {
    for (let each = 0; each < count; each += 1) await check.judge(`wrong-${++given}`, address)
  }
  return { check, clock, waited, wrong }
}

describe('a network that gives wrong tokens', () => {
  it('waits longer with each, and is heard no more after ten, the right one not excepted, until five minutes are over', async () => {
    const { check, clock, waited, wrong } = openCheck()
    await wrong(10, '203.0.113.1')
    expect(await check.judge(TOKEN, '203.0.113.1')).toBe('too_many')
    expect(waited).toEqual([250, 500, 750, 1000, 1250, 1500, 1750, 2000, 2000, 2000])
    expect(await check.judge(TOKEN, '203.0.113.2')).toBe('right')
    clock.now = new Date('2026-11-20T09:05:00Z')
    expect(await check.judge(TOKEN, '203.0.113.1')).toBe('right')
  })

  it('is not shut out by a machine that gives an old one again and again', async () => {
    const { check, waited } = openCheck()
    for (let each = 0; each < 50; each += 1)
      expect(await check.judge('the-token-of-last-week', '203.0.113.1')).toBe('wrong')
    expect(waited.at(-1)).toBe(250)
    expect(await check.judge(TOKEN, '203.0.113.1')).toBe('right')
  })

  it('is one, whichever of its addresses of IPv6 it takes', async () => {
    const { check, wrong } = openCheck()
    await wrong(5, '2001:db8::1')
    await wrong(5, '2001:db8:0:0:ffff::1')
    expect(await check.judge(TOKEN, '2001:db8::2')).toBe('too_many')
    expect(await check.judge(TOKEN, '2001:db8:0:1::1')).toBe('right')
  })

  it('begins anew after a right one', async () => {
    const { check, waited, wrong } = openCheck()
    await wrong(9, '203.0.113.1')
    expect(await check.judge(TOKEN, '203.0.113.1')).toBe('right')
    await wrong(1, '203.0.113.1')
    expect(waited.at(-1)).toBe(250)
  })
})

it('a session is over after twelve hours, to the second', async () => {
  const clock = { now: new Date('2026-11-20T09:00:00Z') }
  const ended = { has: async () => false, add: async () => undefined }
  const sessions = createSessions(TOKEN, ended, () => clock.now)
  const headers: string[] = []
  const session = sessions.begin({ header: (_, value) => void headers.push(value) }, true)
  const [cookie = ''] = headers[0]?.split(';') ?? []
  const found = async () => (await sessions.find({ headers: { cookie: `a=b; ${cookie}` } }, true))?.id
  clock.now = new Date('2026-11-20T20:59:59Z')
  expect(await found()).toBe(session.id)
  clock.now = new Date('2026-11-20T21:00:00Z')
  expect(await found()).toBeUndefined()
})
describe('where one goes on to', () => {
  it.each([
    ['/archive?find=a%20b&page=2', '/archive?find=a%20b&page=2'],
    ['/archive/2026-11-19', '/archive/2026-11-19'],
    ['/a/../agents#part', '/agents'],
  ])('is taken as asked for: %s', (wanted, path) => {
    expect(safeRedirect(wanted)).toBe(path)
  })

  it('is left out of the address of the page to sign in where it is the first', () => {
    expect([signInPath('/'), signInPath('//x'), signInPath('/agents')]).toEqual([
      ...['/sign-in', '/sign-in', '/sign-in?to=%2Fagents'],
    ])
  })

  it(`is always ours, whatever is asked for (SEED=${SEED})`, () => {
    const next = random(SEED)
    const parts = ['evil.com', 'http', '%2f', '%5c', '//', '..', ...'/\\.:@?#\t\n ']
    for (let count = 0; count < 3_000; count += 1) {
      const length = 1 + Math.floor(next() * 6)
      const wanted = Array.from({ length }, () => parts[Math.floor(next() * parts.length)] ?? '').join('')
      const path = safeRedirect(wanted)
      expect([wanted, new URL(path, 'http://ours.example').origin]).toEqual([wanted, 'http://ours.example'])
      expect(path).toMatch(/^\/(?![/\\])/)
    }
  })
})
