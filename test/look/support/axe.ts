/** What keeps people from reading a page who cannot see well, by axe-core: the rules of WCAG 2.2 AA and its own. */
import { source } from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/**
 * Each rule that is broken, with the elements that break it.
 * @param only these rules; all unless given
 */
export async function findBarriers(
  page: Page,
  only: readonly string[] | null = null,
): Promise<readonly string[]> {
  await page.evaluate(source)
  const rules = { 'target-size': { enabled: true } }
  const options = { resultTypes: ['violations'], ...(only === null ? { rules } : { runOnly: only }) }
  const violations: readonly Violation[] = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
