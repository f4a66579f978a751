import { describe, expect, it, onTestFinished } from 'vitest'
import { leadPageUrl } from '../../../src/web/dashboard/lead.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'
import { openCountedPages, readText, textOf } from '../../support/web/counted-pages.ts'

async function openPages(): Promise<string> {
  const store = await openEmptyStore()
  onTestFinished(() => store.close())
  const acme = { companyName: 'Acme & Sons', owner: 'Ana', valueAmount: 4100, valueCurrency: 'USD' }
  await save(store, [lead('a/b', { ...acme, status: 'contacted' })], '2026-11-20T06:00:00Z')
  await save(store, [lead('a/b', { ...acme, status: 'replied', updatedAt: '2026-11-21T05:00:00.000Z' })])
  await saveWholeRun(store, '2026-11-21T09:00:00.000Z')
  return openCountedPages(store)
}

describe('the page of a lead', () => {
  it('has what a person needs to act on it, and its former states, by the address that reports link to', async () => {
    const address = leadPageUrl(await openPages()).replace('{id}', encodeURIComponent('a/b'))
    const text = await readText(address)
    expect(text).toContain('Acme & Sons Replied')
    expect(text).toContain('Value $4.1k')
    expect(text).toContain('Owner Ana')
    expect(text).toMatch(/History .*Replied .*Contacted/)
  })

  it('says of an id that is not known that there is no such lead', async () => {
    const answer = await fetch(leadPageUrl(await openPages()).replace('{id}', 'nobody'))
    expect(answer.status).toBe(404)
    expect(textOf(await answer.text())).toContain('There is no such lead')
  })
})
