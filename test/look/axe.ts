/** What keeps people from reading a page who cannot see well, by axe-core: the rules of WCAG 2.2 AA and its own. */
import { source } from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/** Landmarks are for pages that somebody walks through; a mail is one article in the page of its program. */
const OF_PAGES = ['landmark-one-main', 'region']

/**
 * Each rule that is broken, with the elements that break it.
 * @param only these rules; all unless given
 */
export async function findBarriers(
  page: Page,
  kind: 'mail' | 'page' = 'mail',
  only: readonly string[] | null = null,
): Promise<readonly string[]> {
  await page.evaluate(source)
  const off = kind === 'mail' ? OF_PAGES : []
  const rules = {
    ...Object.fromEntries(off.map((rule) => [rule, { enabled: false }])),
    'target-size': { enabled: true },
  }
  const options = { resultTypes: ['violations'], ...(only === null ? { rules } : { runOnly: only }) }
  const violations: readonly Violation[] = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
