/** The templates of the reports: an installation's own folder, where there is one, before those of the program. */
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { openTemplates, type Templates } from '../report/render/templates.ts'
import { TEMPLATES } from './installation.ts'

/**
 * @param only these reports; what is wrong in others is then not looked for
 * @throws LeadsheetError report_template, config_invalid
 */
export async function openTemplatesOf(config: Config, only?: readonly string[]): Promise<Templates> {
  const templates = await openTemplates(TEMPLATES, { own: ownFolder(config), ...(only && { only }) })
  refuseWithoutFolder(config, templates.names(), only)
  return templates
}

/** A report of the settings whose folder there is not is a mistake there, at a line. */
function refuseWithoutFolder(
  { reports, sources, templatesDir }: Config,
  names: readonly string[],
  only: readonly string[] | undefined,
): void {
  for (const [index, { name, template }] of reports.entries()) {
    if (only?.includes(template) === false || names.includes(template)) continue
    const setting = [`reports[${index}].template`, `reports[${index}].name`].find((each) => each in sources)
    const place = setting === undefined ? 'reports' : `${sources[setting]}  ${setting}`
    throw new LeadsheetError(
      'config_invalid',
      `${place}: found "${template}", expected a folder of ${templatesDir}, or one of ${names.join(', ')}`,
      { hint: `${shellCommand(`report new ${name}`)} makes one; or name the one that it takes as template.` },
    )
  }
}

/** Null where the settings name none and none lies beside them. */
export function ownFolder({ templatesDir, sources }: Config): string | null {
  if (templatesDir === TEMPLATES) return null
  return sources.templates_dir !== undefined || existsSync(templatesDir) ? templatesDir : null
}
