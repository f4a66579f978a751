/** The list: each filter compared with plain code, each sort order, and their pages. */
import { describe, expect, test } from 'vitest'
import { LEAD_SORTS, type WireLead } from '../../src/contract/lead.ts'
import { DAY_MS, NOW, problemIn, serviceOfFile } from './support/service.ts'

const api = await serviceOfFile({ historyDays: 21 })
const all: readonly WireLead[] = await api.walk('limit=1000')

const since = new Date(NOW - 3 * DAY_MS).toISOString()

describe('a filter', () => {
  test.each<readonly [string, (lead: WireLead) => boolean]>([
    ['pipeline_id=pl_fintech', (lead) => lead.pipeline_id === 'pl_fintech'],
    ['status=won&status=lost', (lead) => lead.status === 'won' || lead.status === 'lost'],
    [`updated_since=${since}`, (lead) => lead.updated_at >= since],
    [`created_since=${since}`, (lead) => lead.created_at >= since],
    ['min_score=70', (lead) => (lead.score ?? -1) >= 70],
    ['min_score=0', (lead) => lead.score !== null],
    ['q=labs', (lead) => /labs/i.test(textOf(lead))],
    [
      'pipeline_id=pl_emea&status=contacted&min_score=60&q=.example',
      (lead) =>
        lead.pipeline_id === 'pl_emea' &&
        lead.status === 'contacted' &&
        (lead.score ?? 0) >= 60 &&
        lead.contact?.email !== null,
    ],
  ])('%s lists exactly the leads that it means', async (query, isMeant) => {
    const expected = all.filter(isMeant).map((lead) => lead.id)
    expect(expected.length).toBeGreaterThan(0)
    const { data, page } = await api.leads(`${query}&limit=1000`)
    expect(data.map((lead) => lead.id)).toEqual(expected)
    expect(page).toEqual({ next_cursor: null, has_more: false, total: expected.length })
  })

  test('updated_since takes in the instant itself', async () => {
    const last = all.at(-1)
    const { data } = await api.leads(`updated_since=${last?.updated_at}`)
    expect(data.map((lead) => lead.id)).toEqual([last?.id])
  })

  test('q wants every word, in any case and without accents', async () => {
    const lead = all.find((one) => /[áéíóúñöä]/.test(one.contact?.name ?? ''))
    const words = `${lead?.contact?.name} ${lead?.company.name}`
    const plain = words.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase()
    for (const q of [words, plain]) {
      const { data } = await api.leads(`q=${encodeURIComponent(q)}`)
      expect(data.map((one) => one.id)).toContain(lead?.id)
    }
    expect((await api.leads(`q=${encodeURIComponent(`${words} nowhere`)}`)).data).toEqual([])
  })

  test.each(['%', '_'])('q takes %s as it is, not as a pattern', async (q) => {
    const expected = all.filter((lead) => textOf(lead).includes(q)).length
    expect((await api.leads(`q=${encodeURIComponent(q)}`)).page.total).toBe(expected)
    expect(expected).toBeLessThan(all.length / 10)
  })
})

describe('a sort', () => {
  test.each(LEAD_SORTS)('%s orders, with the id between equals, in small pages too', async (sort) => {
    const listed = await api.walk(`sort=${sort}&limit=137`)
    expect(listed.map((lead) => lead.id)).toEqual(sorted(all, sort).map((lead) => lead.id))
  })

  test('is by updated_at unless asked otherwise, in pages of 100', async () => {
    expect(await api.leads()).toEqual(await api.leads('sort=updated_at&limit=100'))
    expect((await api.leads()).data).toHaveLength(100)
  })
})

describe('a page', () => {
  test('says that there is more only when there is', async () => {
    const { page } = await api.leads(`limit=${all.length - 1}`)
    expect(page).toMatchObject({ has_more: true, total: all.length, next_cursor: expect.any(String) })
    const exact = await api.leads(`limit=${all.length}`)
    expect(exact.page).toEqual({ next_cursor: null, has_more: false, total: all.length })
  })

  test.each([
    ['filters', 'limit=5&status=won', 'another sort'],
    ['sort', 'limit=5&sort=id', 'another sort'],
  ])('refuses a cursor made with other %s', async (_, query, detail) => {
    const { page } = await api.leads('limit=5')
    const answer = await api.get(`/leads?${query}&cursor=${page.next_cursor}`)
    expect(problemIn(answer)).toMatchObject({
      code: 'invalid_cursor',
      detail: expect.stringContaining(detail),
    })
  })
})

function textOf(lead: WireLead): string {
  return [lead.company.name, lead.company.domain, lead.contact?.name, lead.contact?.email].join('\n')
}

function sorted(leads: readonly WireLead[], sort: (typeof LEAD_SORTS)[number]): WireLead[] {
  const key = sort.replace('-', '') as 'created_at' | 'updated_at' | 'score' | 'id'
  const sign = sort.startsWith('-') ? -1 : 1
  const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)
  return [...leads].sort((a, b) => sign * (compare(a[key] ?? -1, b[key] ?? -1) || compare(a.id, b.id)))
}
