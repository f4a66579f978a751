import { describe, expect, it } from 'vitest'
import { enqueueLetter } from '../../src/store/delivery.ts'
import { findEdition, saveEdition } from '../../src/store/edition.ts'
import type { Store } from '../../src/store/open.ts'
import { busyDay } from '../support/figures.ts'
import { LETTER } from '../support/letter.ts'
import { openEmptyStore } from '../support/store.ts'

const figures = busyDay()
const edition = (subject: string) => ({
  report: 'daily',
  period: figures.period,
  renderedAt: '2026-11-21T07:00:00.000Z',
  figures,
  isMailed: false,
  subject,
  html: 'h',
  text: 't',
})
const keep = (store: Store, subject: string) => store.write((trx) => saveEdition(trx, edition(subject)))
const find = (store: Store) => findEdition(store.db, 'daily', figures.period)

describe('an edition', () => {
  it('comes back as it was kept, and is nobody else’s', async () => {
    const store = await openEmptyStore()
    const kept = await keep(store, 'first')
    expect(await find(store)).toEqual(kept)
    expect(await findEdition(store.db, 'weekly', figures.period)).toBeUndefined()
    expect(await findEdition(store.db, 'daily', figures.prior)).toBeUndefined()
    await store.close()
  })

  it('is made anew, under its own id, as long as no letter of it exists', async () => {
    const store = await openEmptyStore()
    const first = await keep(store, 'of half the day')
    const second = await keep(store, 'of the whole day')
    expect(second.id).toBe(first.id)
    expect(await find(store)).toMatchObject({ subject: 'of the whole day', isMailed: false })
    await store.close()
  })

  it('stands as it was mailed from its first letter on', async () => {
    const store = await openEmptyStore()
    const { id } = await keep(store, 'as mailed')
    await store.write((trx) => enqueueLetter(trx, id, LETTER, LETTER.date))
    expect(await keep(store, 'too late')).toMatchObject({ id, subject: 'as mailed', isMailed: true })
    expect(await find(store)).toMatchObject({ subject: 'as mailed', isMailed: true })
    await store.close()
  })
})
