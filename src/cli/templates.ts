/** The templates of the reports: an installation's own folder, where there is one, before those of the program. */
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { openTemplates, type Templates } from '../report/templates.ts'
import { TEMPLATES } from './installation.ts'

/**
 * @param only these reports; what is wrong in others is then not looked for
 * @throws LeadsheetError report_template
 */
export async function openTemplatesOf(config: Config, only?: readonly string[]): Promise<Templates> {
  return openTemplates(TEMPLATES, { own: ownFolder(config), ...(only && { only }) })
}

/** Null where the settings name none and none lies beside them. */
export function ownFolder({ templatesDir, sources }: Config): string | null {
  if (templatesDir === TEMPLATES) return null
  return sources.templates_dir !== undefined || existsSync(templatesDir) ? templatesDir : null
}
