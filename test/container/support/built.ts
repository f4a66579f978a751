/**
 * Builds the program as `npm pack` and the Dockerfile do: from the checkout, without what developers need.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT, readImage } from './image.ts'

/** Runs npm as a user would, with the Node of the tests. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await run('npm', args, { cwd, env: environment() })
  return stdout
}

/** Returns the machine's environment with npm's settings. `node` is the Node of the tests. */
function environment(): NodeJS.ProcessEnv {
  const { PATH = '', ...env } = process.env
  const others = Object.entries(env).filter(([name]) => !name.startsWith('LEADSHEET_'))
  return { ...Object.fromEntries(others), PATH: `${dirname(process.execPath)}:${PATH}` }
}

/** Builds dist/ and packs it. Returns the path of the package. */
export async function packInto(folder: string): Promise<string> {
  await npm(['pack', '--pack-destination', folder], ROOT)
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'))
  return join(folder, name)
}

/**
 * Copies the files that the Dockerfile would copy into a folder that stands for `/`. {@link packInto} must
 * have built them.
 */
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
      // COPY copies the content of a folder, but a file itself.
      const target = path.endsWith('/') ? join(folder, to) : join(folder, to, path.split('/').at(-1) ?? '')
      await mkdir(dirname(target), { recursive: true })
      if (stage === 'dependencies') await rename(path.replace('/app', dependencies), target)
      else await cp(path.replace(/^(\/app\/)?/, `${ROOT}/`), target, { recursive: true })
    }
  }
}

const run = promisify(execFile)
