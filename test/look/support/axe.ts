/** Finds accessibility problems with axe-core, by WCAG 2.2 AA and its own rules. */
import { source } from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

/**
 * Returns each broken rule with the elements that break it.
 * @param only these rules; by default all
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
