/** What keeps people from reading a page who cannot see well, by axe-core: the rules of WCAG 2.2 AA and its own. */
import { source } from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Landmarks are for pages that somebody walks through; a mail is one article in the page of its program. */
const RUN = `axe.run(document, {
  resultTypes: ['violations'],
  rules: {
    'landmark-one-main': { enabled: false },
    region: { enabled: false },
    'target-size': { enabled: true },
  },
}).then(({ violations }) => violations)`

/** Each rule that is broken, with the elements that break it. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(source)
  const violations: readonly Violation[] = await page.evaluate(RUN)
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
