/** Renders the mail of an alert, styled like a report. The mail is in English, like the commands in it. */

import type { Rendered } from '../../domain/message.ts'
import { LeadsheetError } from '../../errors.ts'
import { createCompiler, readTemplateFiles, type TemplateFile } from './template-files.ts'
import { finishHtml, finishSubject, finishText } from './templates.ts'

export interface AlertMailView {
  readonly title: string
  readonly place: string
  readonly sections: readonly {
    readonly title: string
    /** Tells whether the section lists resolved alerts. */
    readonly isGood: boolean
    readonly lines: readonly AlertLineView[]
    /** A note about lines that are left out; null if there are none. */
    readonly more: string | null
  }[]
  readonly footer: readonly string[]
}

interface AlertLineView {
  readonly heading: string
  readonly message: string
  /** A hint on what to do about the alert; null if there is nothing to do. */
  readonly hint: string | null
  readonly times: string
}

export type RenderAlert = (view: AlertMailView) => Rendered

const FOLDER = 'alert'

/**
 * Reads the templates of the mail.
 * @param folder the folder with leadsheet's templates
 * @param own the installation's own folder, whose files replace those of leadsheet; null if there is none
 * @throws LeadsheetError report_template
 */
export async function openAlertMail(folder: string, own: string | null): Promise<RenderAlert> {
  const files = await readTemplateFiles(folder, own)
  const take = (file: TemplateFile | undefined, name: string): TemplateFile => {
    if (file) return file
    throw new LeadsheetError('report_template', `template ${name} is missing`, {
      hint: 'Restore the templates as they came with the program.',
    })
  }
  const parts = new Map([
    ['body', take(files.find(FOLDER, 'html.hbs'), `${FOLDER}/html.hbs`)],
    ['filler', take(files.findLayout('filler.hbs'), 'layout/filler.hbs')],
    ['banner', take(files.findLayout('banner.html.hbs'), 'layout/banner.html.hbs')],
  ])
  const pageOf = createCompiler('html', parts)(take(files.findLayout('page.hbs'), 'layout/page.hbs'))
  const textOf = createCompiler('text', new Map())(take(files.find(FOLDER, 'text.hbs'), `${FOLDER}/text.hbs`))
  const styles = {
    inline: files.styles(FOLDER, 'styles.css'),
    mobile: files.styles(FOLDER, 'mobile.css'),
    dark: files.styles(FOLDER, 'dark.css'),
  }
  return (view) => {
    const subject = finishSubject(`[leadsheet] ${view.title}`)
    const preheader = view.sections.flatMap(({ lines }) => lines.map(({ message }) => message)).join(' ')
    const page = {
      ...{ ...view, subject, preheader: preheader.slice(0, 200), lang: 'en', dir: 'ltr', banner: null },
      footer: { lines: view.footer, unsubscribe: null },
    }
    return { subject, html: finishHtml(pageOf(page), styles), text: finishText(textOf(view)) }
  }
}
