/** What a browser has built of a page. */
import type { Page } from 'playwright-core'

const LIST = `(() => {
  const forPeople = /^(?:alt|title|aria-label)$/
  const varying = /^\\d+%$|(?<=\\/leads\\/)[\\w.~%!*'()-]+$/
  const unbroken = /;?word-break:normal/
  const told = ({ name, value }) =>
    forPeople.test(name) ? name : name + '=' + value.replace(varying, '…').replace(unbroken, '')
  return [...document.querySelectorAll('*')].map(({ tagName, attributes }) =>
    [tagName, ...[...attributes].map(told)].join(' '))
})()`

/**
 * Every element with its attributes; of those that hold words for people only that they are there, of widths of
 * columns, which follow the words in them, that they are shares, of addresses of leads that they end in an id, and
 * nothing of whether a word may be split, which follows its length.
 */
export async function listElements(page: Page): Promise<readonly string[]> {
  return page.evaluate(LIST)
}

/** @returns what the page has done since it was asked last, beyond being shown with its images */
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
