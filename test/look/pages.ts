/** The mails that are looked at: every kind of report, as it is really made. */
import type { Rendered } from '../../src/model.ts'
import { busyDay, hostileDay } from '../support/figures.ts'
import { DAYS, renderDaily } from '../support/report.ts'

export interface MailPage {
  readonly name: string
  readonly rendered: Rendered
  /** PNG files by the content id that the page asks for. */
  readonly images: ReadonlyMap<string, Uint8Array>
}

const NO_IMAGES: MailPage['images'] = new Map()

export const PAGES: readonly MailPage[] = DAYS.map(({ name, figures, context }) => ({
  name,
  rendered: renderDaily(figures, context),
  images: NO_IMAGES,
}))

/** Full lists of names as long as any can get. */
export const OVERLONG: MailPage = {
  ...hostilePage(`${'W'.repeat(300)} Donaudampfschifffahrtsgesellschaft`),
  name: 'overlong',
}

/** Those that there are pictures of. */
export const REFERENCES: readonly [MailPage, ...MailPage[]] = [
  { name: 'daily-en', rendered: renderDaily(busyDay()), images: NO_IMAGES },
]

/** A full page on which everything that comes from others is called so. */
export function hostilePage(name: string): MailPage {
  return { name: 'hostile', rendered: renderDaily(hostileDay(name)), images: NO_IMAGES }
}
