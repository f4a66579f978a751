/** Renders the mail of an alert, styled like a report. The mail is in English, like the commands in it. */

import type { Rendered } from '../../domain/message.ts'
import { createCompiler, LAYOUT, readTemplateFiles } from './template-files.ts'
import { finishHtml, finishSubject, finishText } from './templates.ts'

export interface AlertMailView {
  readonly title: string
  readonly place: string
  readonly sections: readonly {
    readonly title: string
    readonly isGood: boolean
    readonly lines: readonly AlertLineView[]
    readonly more: string | null
  }[]
  readonly footer: readonly string[]
}

interface AlertLineView {
  readonly heading: string
  readonly message: string
  readonly hint: string | null
  readonly times: string
}

export type RenderAlert = (view: AlertMailView) => Rendered

const FOLDER = 'alert'

/**
 * Reads the templates of the alert mail.
 * @param folder the folder with leadsheet's templates
 * @param own the installation's own folder, whose files replace those of leadsheet; null if there is none
 * @throws LeadsheetError report_template
 */
export async function openAlertMail(folder: string, own: string | null): Promise<RenderAlert> {
  const files = await readTemplateFiles(folder, own)
  const body = new Map([['body', files.take(FOLDER, 'html.hbs')]])
  const pageOf = createCompiler('html', body)(files.take(LAYOUT, 'page.hbs'))
  const textOf = createCompiler('text', new Map())(files.take(FOLDER, 'text.hbs'))
  const styles = files.styles(FOLDER)
  return (view) => {
    const subject = finishSubject(`[leadsheet] ${view.title}`)
    const preheader = view.sections.flatMap(({ lines }) => lines.map(({ message }) => message)).join(' ')
    const page = {
      ...view,
      subject,
      preheader: preheader.slice(0, 200),
      lang: 'en',
      dir: 'ltr',
      footer: { lines: view.footer, unsubscribe: null },
    }
    return { subject, html: finishHtml(pageOf(page), styles), text: finishText(textOf(view)) }
  }
}
