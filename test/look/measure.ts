/** What a browser says of a page that it shows: its width, and text and pictures that nobody could read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

export interface Measured {
  /** Of the whole page, in CSS pixels; more than the window has means that it scrolls sideways. */
  readonly width: number
  readonly messages: readonly Messages[]
  /** Text that leaves its cell, its paragraph or the window. */
  readonly cut: readonly string[]
  /** Texts and images of which one lies on the other. */
  readonly overlapping: readonly string[]
  /** Images that are shown wider or higher than they were drawn. */
  readonly distorted: readonly string[]
}

/** What of it reads wrong although all of it can be seen. */
export interface MeasuredWords {
  /** Words and numbers that go on in the next line. */
  readonly split: readonly string[]
  /** Texts of neighbouring cells that read as one. */
  readonly near: readonly string[]
}

/** A visible piece of text. */
export interface Messages {
  readonly text: string
  readonly size: number
  /** To the colour behind it, as WCAG 2.2 counts it: 1 to 21. */
  readonly contrast: number
  readonly lines: readonly { x: number; y: number; width: number; height: number }[]
}

const MEASURE = readFileSync(join(import.meta.dirname, 'measure.js'), 'utf8')

export async function measure(page: Page): Promise<Measured> {
  const { split: _, near: __, ...measured } = await measureWords(page)
  return measured
}

export async function measureWords(page: Page): Promise<Measured & MeasuredWords> {
  return page.evaluate(MEASURE)
}
