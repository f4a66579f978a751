/** Text on its way into a spreadsheet, which takes some beginnings for a formula and would run it. */

/** The full-width forms too: some spreadsheets read them as the plain ones. */
const FORMULA_START = /^[=+\-@\t\r\n\0＝＋－＠]/

/** With an apostrophe before what could be taken for a formula. For text alone: a number may begin with a minus. */
export function harmlessText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text
}
