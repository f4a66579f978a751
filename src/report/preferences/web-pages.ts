/**
 * Renders the pages for recipients, which the daemon serves. The pages need no script and load only their
 * stylesheet.
 */
import { LeadsheetError } from '../../errors.ts'
import { createCompiler } from '../render/compile-template.ts'
import { readTemplateFiles, type TemplateFile } from '../render/template-files.ts'
import type { PreferenceView } from './page.ts'

export interface WebPages {
  readonly stylesheet: string
  preference(view: PreferenceView): string
  error(view: ErrorPageView): string
}

/** A page that only says what went wrong. */
export interface ErrorPageView {
  /** The language, BCP 47. */
  readonly lang: string
  readonly title: string
  readonly text: string
}

const FOLDER = 'web'

/**
 * @param folder the templates of the program
 * @throws LeadsheetError report_template
 */
export async function openWebPages(folder: string): Promise<WebPages> {
  const files = await readTemplateFiles(folder, null)
  const take = (name: string): TemplateFile => {
    const found = files.find(FOLDER, name)
    if (found) return found
    throw new LeadsheetError('report_template', `template ${FOLDER}/${name} is missing`, {
      hint: 'Restore the templates as they came with the program.',
    })
  }
  const compile = createCompiler('html', new Map([['page', take('page.hbs')]]))
  return {
    stylesheet: take('web.css').text,
    preference: compile(take('preference.hbs')),
    error: compile(take('error.hbs')),
  }
}
