/**
 * The font of the tested pages. Mails ask for the reader's system font. Here they get Inter, which is as wide
 * as the widest of these fonts, so that pages look the same on every machine.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** The first font that the mails ask for and Linux does not have. */
const FAMILY = 'Segoe UI'
const WEIGHTS = { 400: '400Regular', 600: '600SemiBold', 700: '700Bold' }

const resolve = createRequire(import.meta.url).resolve
const FACES = Object.entries(WEIGHTS).map(([weight, file]) => ({
  weight,
  base64: readFileSync(resolve(`@expo-google-fonts/inter/${file}/Inter_${file}.ttf`)).toString('base64'),
}))

/** Gives a page the font. The page keeps it when its content changes. */
export async function putFontInto(page: Page): Promise<void> {
  const faces = JSON.stringify(FACES)
  await page.evaluate(`Promise.all(${faces}.map(async ({ weight, base64 }) => {
    const source = 'url(data:font/ttf;base64,' + base64 + ')'
    document.fonts.add(await new FontFace('${FAMILY}', source, { weight }).load())
  }))`)
}
