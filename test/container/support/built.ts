/** The program as `npm pack` and the Dockerfile lay it out: built of the checkout, without what developers need. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT, readImage } from './image.ts'

/** npm as its user has it, on the Node of the tests. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await run('npm', args, { cwd, env: environment() })
  return stdout
}

/** That of the machine, with what npm has to know of its registry; `node` is the Node of the tests. */
function environment(): NodeJS.ProcessEnv {
  const { PATH = '', ...env } = process.env
  const others = Object.entries(env).filter(([name]) => !name.startsWith('LEADSHEET_'))
  return { ...Object.fromEntries(others), PATH: `${dirname(process.execPath)}:${PATH}` }
}

/** Builds dist/ and packs it; the path of the package. */
export async function packInto(folder: string): Promise<string> {
  await npm(['pack', '--pack-destination', folder], ROOT)
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'))
  return join(folder, name)
}

/** What the Dockerfile would have, below a folder in the place of `/`; after {@link packInto}, which builds. */
export async function layOut(folder: string): Promise<void> {
  const { copies, runs } = readImage()
  const dependencies = join(folder, 'dependencies')
  await mkdir(dependencies, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    await cp(join(ROOT, file), join(dependencies, file))
  for (const command of runs['dependencies'] ?? [])
    await run('sh', ['-c', `${command} --prefer-offline`], { cwd: dependencies, env: environment() })
  for (const { stage, from, to } of copies) {
    for (const path of from) {
      // As COPY does: of a folder its content, of a file itself.
      const target = path.endsWith('/') ? join(folder, to) : join(folder, to, path.split('/').at(-1) ?? '')
      await mkdir(dirname(target), { recursive: true })
      if (stage === 'dependencies') await rename(path.replace('/app', dependencies), target)
      else await cp(path.replace(/^(\/app\/)?/, `${ROOT}/`), target, { recursive: true })
    }
  }
}

const run = promisify(execFile)
