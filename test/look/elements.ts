/** What a browser has built of a page. */
import type { Page } from 'playwright-core'

const LIST = `[...document.querySelectorAll('*')].map(({ tagName, attributes }) =>
  [tagName, ...[...attributes].map(({ name, value }) =>
    /^(?:alt|title|aria-label)$/.test(name) ? name : name + '=' + value,
  )].join(' '),
)`

/** Every element with its attributes; of those that hold words for people only that they are there. */
export async function listElements(page: Page): Promise<readonly string[]> {
  return page.evaluate(LIST)
}

/** Keeps what a page does beyond being shown: dialogs, requests, errors. Nothing of it is let happen. */
export function watchDeeds(page: Page): readonly string[] {
  const deeds: string[] = []
  page.on('dialog', (dialog) => {
    deeds.push(`dialog: ${dialog.message()}`)
    return dialog.dismiss()
  })
  page.on('request', (request) => deeds.push(`request of ${request.url()}`))
  page.on('pageerror', (error) => deeds.push(`error: ${error.message}`))
  return deeds
}
