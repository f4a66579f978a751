/** Measures a page in a browser: its width, and texts and pictures that cannot be read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

interface Measured {
  /** The width of the whole page in CSS pixels. If it is wider than the window, the page scrolls sideways. */
  readonly width: number
  readonly messages: readonly Messages[]
  /** Texts that leave their cell, their paragraph or the window. */
  readonly cut: readonly string[]
  /** Texts and images that overlap. */
  readonly overlapping: readonly string[]
  /** Images with another ratio of width to height than in their file. */
  readonly distorted: readonly string[]
  /** Words and numbers that are broken across lines. */
  readonly split: readonly string[]
  /** Texts of neighbouring cells that read like one text. */
  readonly near: readonly string[]
}

/** A visible piece of text. */
export interface Messages {
  readonly text: string
  readonly size: number
  /** The contrast to the colour behind it by WCAG 2.2, from 1 to 21. */
  readonly contrast: number
  readonly lines: readonly { x: number; y: number; width: number; height: number }[]
}

const MEASURE = readFileSync(join(import.meta.dirname, 'measure.js'), 'utf8')

export async function measure(page: Page): Promise<Measured> {
  return page.evaluate(MEASURE)
}
