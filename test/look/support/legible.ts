/** The rules for a shown mail, whatever shows it. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { measure } from '../measure.ts'

const SMALLEST_PX = 9
/** WCAG 2.2, 1.4.3, level AA. */
const CONTRAST = 4.5

export async function expectLegible(page: Page, width: number, name: string): Promise<void> {
  const { messages, ...found } = await measure(page)
  expect(found, name).toMatchObject({ width, cut: [], overlapping: [], distorted: [] })
  expect(messages.length, name).toBeGreaterThan(4)
  const hard = messages.filter(({ size, contrast }) => size < SMALLEST_PX || contrast < CONTRAST)
  expect(hard, name).toEqual([])
}
