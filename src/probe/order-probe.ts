/** Finds the parameter that sorts the list. The proof is which records then come first. */
import { type FieldPath, readPath } from '../upstream/values/field-path.ts'
import { toInstant } from '../upstream/values/instant.ts'
import type { Asker } from './ask.ts'
import { apart, clashes, type Effect, findEffective } from './bisect.ts'
import { ASCENDING_PARAMS, SORT_PARAMS, SORT_PARAMS_IN_BRACKETS } from './candidates.ts'
import { evidenceOf, type Finding, type List, type Page, type Params, readPage } from './probed-page.ts'

const TRIES = 9
const QUESTIONS_MAX = 120

/**
 * Finds the parameter by sorting by the time of the last change, because no list has that order by chance. If
 * the parameter also accepts the time of creation, the profile gets that order, because no record then moves
 * while pages are read.
 * @param params the parameters of the largest page
 */
export async function findOrder(
  asker: Asker,
  list: List,
  params: Params,
  times: { readonly updated: FieldPath; readonly created: FieldPath | null },
  unordered: Page,
): Promise<{ sort: Record<string, string>; finding: Finding } | null> {
  const found = await findByChanges(asker, list, params, times.updated, unordered)
  const [param] = Object.keys(found?.sort ?? {})
  if (found === null || param === undefined || times.created === null) return found
  const sort = { ...found.sort, [param]: times.created.at(-1) ?? '' }
  const page = await readPage(asker, list, { ...params, ...sort })
  return page !== null && isRising(page, times.created)
    ? { sort, finding: findingOf(page, sort, 'oldest first') }
    : found
}

async function findByChanges(
  asker: Asker,
  list: List,
  params: Params,
  updated: FieldPath,
  unordered: Page,
): Promise<{ sort: Record<string, string>; finding: Finding } | null> {
  const field = updated.at(-1) ?? ''
  if (unordered.ids.length < 4 || isRising(unordered, updated) || field === '') return null
  const ask = (extra: Params): Promise<Page | null> => readPage(asker, list, { ...params, ...extra })
  const test = async (some: readonly string[]): Promise<Effect> => {
    const page = await ask(Object.fromEntries(some.map((name) => [name, field])))
    if (page === null || page.ids.length === 0) return 'refused'
    return isRising(page, updated) || (isFalling(page, updated) && !isFalling(unordered, updated))
      ? 'effect'
      : 'none'
  }
  const budget = { left: Math.min(TRIES, asker.left(QUESTIONS_MAX)) }
  let param: string | null = null
  for (const names of apart([...SORT_PARAMS, ...SORT_PARAMS_IN_BRACKETS], (name) => name))
    param ??= await findEffective(
      names.filter((name) => !Object.keys(params).some((other) => clashes(name, other))),
      test,
      budget,
      list.isStrict,
    )
  const page = param === null ? null : await ask({ [param]: field })
  if (param === null || page === null) return null
  if (isRising(page, updated))
    return { sort: { [param]: field }, finding: findingOf(page, { [param]: field }) }
  const directions = Object.entries(ASCENDING_PARAMS).filter(([name]) => name !== param)
  const direction = await findEffective(
    directions,
    async (some) => {
      const turned = await ask({ [param]: field, ...Object.fromEntries(some) })
      if (turned === null) return 'refused'
      return isRising(turned, updated) ? 'effect' : 'none'
    },
    { left: Math.min(TRIES, asker.left(QUESTIONS_MAX)) },
  )
  if (direction === null) return null
  const sort = { [param]: field, [direction[0]]: direction[1] }
  const turned = await ask(sort)
  return turned && { sort, finding: findingOf(turned, sort) }
}

function findingOf(
  page: Page,
  sort: Readonly<Record<string, string>>,
  order = 'oldest change first',
): Finding {
  return {
    place: 'sort',
    value: Object.entries(sort)
      .map((pair) => pair.join('='))
      .join('&'),
    confidence: 'proved',
    evidence: `${evidenceOf(page.reply, order)}`,
  }
}

function isRising(page: Page, path: FieldPath): boolean {
  return isSorted(page, path, (before, after) => before <= after)
}

function isFalling(page: Page, path: FieldPath): boolean {
  return isSorted(page, path, (before, after) => before >= after)
}

function isSorted(page: Page, path: FieldPath, holds: (before: string, after: string) => boolean): boolean {
  const times = page.records.map((record) => toInstant(readPath(record, path)) ?? '')
  return (
    times.length > 2 &&
    new Set(times).size > 1 &&
    times.every((time, index) => index === 0 || holds(times[index - 1] ?? '', time))
  )
}
