/** The pages of the window, compiled once: each a template of `templates/web/` inside the frame that all share. */
import { LeadsheetError } from '../../errors.ts'
import { createCompiler } from '../../report/compile.ts'
import { readTemplateFiles } from '../../report/template-files.ts'
import type { Frame } from './frame.ts'

export interface WindowPages {
  readonly stylesheet: string
  /** @throws LeadsheetError report_template */
  page<View extends object>(name: string): (view: View, frame: Frame) => string
  /** What pages include as `{{> window-NAME}}`, by itself. */
  part<View extends object>(name: string): (view: View) => string
}

const FOLDER = 'web'
/** Of the templates: the frame of a page, and what pages include as `{{> window-NAME}}`. */
const PARTIAL = /^(window(?:-[a-z-]+)?)\.hbs$/

/**
 * @param folder of the templates that come with the program
 * @throws LeadsheetError report_template
 */
export async function openWindowPages(folder: string): Promise<WindowPages> {
  const files = await readTemplateFiles(folder, null)
  const take = (name: string) => {
    const found = files.find(FOLDER, name)
    if (found) return found
    throw new LeadsheetError('report_template', `template ${FOLDER}/${name} is missing`, {
      hint: 'Restore the templates as they came with the program.',
    })
  }
  const partials = new Map(
    files.list(FOLDER).flatMap((name) => {
      const [, partial] = PARTIAL.exec(name) ?? []
      return partial === undefined ? [] : [[partial, take(name)] as const]
    }),
  )
  const compile = createCompiler('html', partials)
  return {
    stylesheet: ['window.css', ...files.list(FOLDER).filter(isOwnStyle).sort()]
      .map((name) => take(name).text)
      .join('\n'),
    part: (name) => compile(take(`window-${name}.hbs`)),
    page: (name) => {
      const fill = compile(take(`${name}.hbs`))
      return (view, frame) => fill({ ...view, frame })
    },
  }
}

/** What a page has beside what all have. */
function isOwnStyle(name: string): boolean {
  return name.startsWith('window-') && name.endsWith('.css')
}
