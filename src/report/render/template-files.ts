/**
 * Reads the template files from two places: the installation's own folder, which comes first, and the
 * program's folder. Both have a folder for each report, `blocks` and `layout`. A report's folder may have its
 * own `blocks`.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { errorText, LeadsheetError } from '../../errors.ts'

export interface TemplateFile {
  /** The path of the file for messages. It is relative to the working directory if the file is below it. */
  readonly path: string
  readonly text: string
}

export interface TemplateFiles {
  /** The folders that are reports, sorted by name. */
  readonly reports: readonly string[]
  /** Finds a file in the report's folder. */
  find(report: string, file: string): TemplateFile | undefined
  /** Lists the files of a folder, as found in both places. */
  list(folder: string): readonly string[]
  /** Finds a file in the layout that all reports share. */
  findLayout(file: string): TemplateFile | undefined
  /**
   * Returns all parts that a report may include, by file name. The report's own parts replace others of the
   * same name.
   */
  partials(report: string): ReadonlyMap<string, TemplateFile>
  /** Returns the layout's stylesheet, followed by the additions of the installation and of the report. */
  styles(report: string, file: string): string
  /** Returns files in the report's folder that have no known name. */
  strays(report: string): readonly TemplateFile[]
}

const LAYOUT = 'layout'
const BLOCKS = 'blocks'
const BLOCK_FOLDERS = join(import.meta.dirname, '..', 'blocks')
/** The folders of templates that are not reports. */
export const SHARED_FOLDERS: readonly string[] = [LAYOUT, BLOCKS, 'archive', 'web', 'dashboard', 'alert']
const WANTED = /(?:\.hbs|\.css|^report\.ya?ml)$/
/** The files that a report's folder may have, beside `blocks`. */
export const REPORT_FILES: readonly string[] = [
  ...['report.yaml', 'subject.hbs', 'html.hbs', 'text.hbs'],
  ...['styles.css', 'mobile.css', 'dark.css'],
]

/**
 * Reads all template files.
 * @param program the program's folder
 * @param own the installation's folder, whose files come first; null if there is none
 * @throws LeadsheetError report_template if a folder cannot be read
 */
export async function readTemplateFiles(program: string, own: string | null): Promise<TemplateFiles> {
  const programTree = new Map([...(await readTree(program)), ...(await readBlockTemplates())])
  const trees = own === null ? [programTree] : [await readTree(own), programTree]
  const first = (file: string) => trees.map((tree) => tree.get(file)).find((found) => found !== undefined)
  const inFolder = (tree: Tree, folder: string) =>
    [...tree].flatMap(([path, file]) => {
      const name = path.slice(folder.length + 1)
      return path.startsWith(`${folder}/`) && !name.includes('/') ? [[name, file] as const] : []
    })
  return {
    reports: [...new Set(trees.flatMap((tree) => [...tree.keys()].map(folderOf)))]
      .filter((name) => name !== '' && !SHARED_FOLDERS.includes(name))
      .sort(),
    find: (report, file) => first(`${report}/${file}`),
    list: (folder) => [...new Set(trees.flatMap((tree) => inFolder(tree, folder).map(([name]) => name)))],
    findLayout: (file) => first(`${LAYOUT}/${file}`),
    partials: (report) =>
      new Map(
        [LAYOUT, BLOCKS, `${report}/${BLOCKS}`].flatMap((folder) =>
          trees.toReversed().flatMap((tree) => inFolder(tree, folder)),
        ),
      ),
    styles: (report, file) =>
      [...trees.toReversed().map((tree) => tree.get(`${LAYOUT}/${file}`)), first(`${report}/${file}`)]
        .flatMap((found) => found?.text ?? [])
        .join('\n'),
    strays: (report) =>
      trees.flatMap((tree) =>
        inFolder(tree, report).flatMap(([name, file]) => (REPORT_FILES.includes(name) ? [] : [file])),
      ),
  }
}

/** The files below a folder, by their relative path with `/`. */
type Tree = ReadonlyMap<string, TemplateFile>

/** Reads the templates of the program's blocks under names such as `blocks/top_leads.html.hbs`. */
async function readBlockTemplates(): Promise<Tree> {
  const tree = await readTree(BLOCK_FOLDERS)
  return new Map(
    [...tree].map(([path, file]) => [`${BLOCKS}/${path.replaceAll('-', '_').replace('/', '.')}`, file]),
  )
}

async function readTree(root: string): Promise<Tree> {
  try {
    const entries = await readdir(root, { withFileTypes: true, recursive: true })
    // Links are read too, because files mounted into a container are often links.
    const paths = entries
      .filter((entry) => !entry.isDirectory() && WANTED.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
    const files = await Promise.all(
      paths.map(async (path) => {
        const name = relative(root, path).replaceAll('\\', '/')
        return [name, { path: pathForPeople(path), text: await readFile(path, 'utf8') }] as const
      }),
    )
    return new Map(files.filter(([name]) => !/(?:^|\/)\./.test(name)))
  } catch (cause) {
    throw new LeadsheetError(
      'report_template',
      `templates cannot be read from ${root}: ${errorText(cause)}`,
      {
        hint: 'It needs a folder for each report; templates_dir in the settings names that of your own.',
        cause,
      },
    )
  }
}

function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : ''
}

function pathForPeople(path: string): string {
  const near = relative('', path)
  return near.startsWith('..') ? path : near
}
