/** Lists the elements that a browser has built of a page. */
import type { Page } from 'playwright-core'

const LIST = `(() => {
  const forPeople = /^(?:alt|title|aria-label)$/
  const varying = /^\\d+%$|(?<=\\/leads\\/)[\\w.~%!*'()-]+$/
  const unbroken = /;?word-break:normal/
  const told = ({ name, value }) =>
    forPeople.test(name) ? name : name + '=' + value.replace(varying, '…').replace(unbroken, '')
  return [...document.querySelectorAll('*:not(bdi)')].map(({ tagName, attributes }) =>
    [tagName, ...[...attributes].map(told)].join(' '))
})()`

/**
 * Lists all elements with their attributes. Values that depend on names are replaced: texts for people,
 * widths of columns, ends of lead addresses, and whether a word may be broken. `bdi`, which isolates
 * right-to-left texts, is left out.
 */
export async function listElements(page: Page): Promise<readonly string[]> {
  return page.evaluate(LIST)
}

/**
 * @returns a function that lists what the page has done since its last call, beyond showing itself and its
 * images
 */
export function watchDeeds(page: Page): () => readonly string[] {
  const deeds: string[] = []
  page.on('dialog', (dialog) => {
    deeds.push(`dialog: ${dialog.message()}`)
    return dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!/^(?:cid:[\w.@-]+$|data:image\/png;)/.test(request.url())) deeds.push(`request of ${request.url()}`)
  })
  page.on('pageerror', (error) => deeds.push(`error: ${error.message}`))
  return () => deeds.splice(0)
}
