/**
 * The files that reports are made of, from two places: an installation's own folder first, then the one that comes
 * with the program. Both have a folder a report, `blocks` and `layout`; a report's own folder may have `blocks` too.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { errorText, LeadsheetError } from '../../errors.ts'

export interface TemplateFile {
  /** For people: from the working directory if it lies there, else absolute. */
  readonly path: string
  readonly text: string
}

export interface TemplateFiles {
  /** The folders that are reports, in order of name. */
  readonly reports: readonly string[]
  /** The file of that name in the report's folder, or undefined. */
  find(report: string, file: string): TemplateFile | undefined
  /** The names of the files of a folder, wherever they are. */
  list(folder: string): readonly string[]
  /** The file of that name in the layout that all reports share. */
  findLayout(file: string): TemplateFile | undefined
  /** Every part that a report may include, by the name of its file; the nearest of those that are called the same. */
  partials(report: string): ReadonlyMap<string, TemplateFile>
  /** The stylesheet of that name in the layout, followed by the additions of the own folders. */
  styles(report: string, file: string): string
  /** Templates in the report's folder that have the name of none. */
  strays(report: string): readonly TemplateFile[]
}

const LAYOUT = 'layout'
const BLOCKS = 'blocks'
const BLOCK_FOLDERS = join(import.meta.dirname, '..', 'blocks')
/** Folders that are no reports: also the page that an issue is kept with, those that the daemon serves, and alerts. */
export const SHARED_FOLDERS: readonly string[] = [LAYOUT, BLOCKS, 'archive', 'web', 'dashboard', 'alert']
const WANTED = /(?:\.hbs|\.css|^report\.ya?ml)$/
/** The files that a report's folder may have, beside `blocks`. */
export const REPORT_FILES: readonly string[] = [
  ...['report.yaml', 'subject.hbs', 'html.hbs', 'text.hbs'],
  ...['styles.css', 'mobile.css', 'dark.css'],
]

/**
 * @param program the folder that comes with the program
 * @param own null where there is none; its files go before
 * @throws LeadsheetError report_template when a folder cannot be read
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

/** The files of a folder and of those in it, by their path from there, with `/` in between. */
type Tree = ReadonlyMap<string, TemplateFile>

/** The templates of the program's blocks, as if they stood in `blocks/`: `top_leads.html.hbs`. */
async function readBlockTemplates(): Promise<Tree> {
  const tree = await readTree(BLOCK_FOLDERS)
  return new Map(
    [...tree].map(([path, file]) => [`${BLOCKS}/${path.replaceAll('-', '_').replace('/', '.')}`, file]),
  )
}

async function readTree(root: string): Promise<Tree> {
  try {
    const entries = await readdir(root, { withFileTypes: true, recursive: true })
    // Not only plain files: what a container mounts is often a link.
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
