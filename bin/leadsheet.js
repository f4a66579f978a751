#!/usr/bin/env node
/**
 * The command `leadsheet`: of a clone from its sources, else as it was built. It is no TypeScript, since an older Node
 * cannot even read the program, and would not say what it lacks.
 */
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { join } from 'node:path'

const LEAST_NODE_MAJOR = 24
const SOURCE = new URL('../src/main.ts', import.meta.url)

if (Number.parseInt(process.versions.node, 10) >= LEAST_NODE_MAJOR) {
  // Compiling is a third of a start. Node keeps what it has compiled where it can write the user's cache.
  const { HOME, XDG_CACHE_HOME = HOME && join(HOME, '.cache'), NODE_COMPILE_CACHE } = process.env
  if (XDG_CACHE_HOME && !NODE_COMPILE_CACHE) {
    const folder = join(XDG_CACHE_HOME, 'leadsheet')
    module.enableCompileCache(folder)
    // Only for the threads of this program, which find the cache by it.
    process.env.NODE_COMPILE_CACHE = folder
  }
  await import(existsSync(SOURCE) ? SOURCE : '../dist/main.js')
} else {
  process.stderr.write(
    `error: leadsheet needs Node ${LEAST_NODE_MAJOR} or newer; this is Node ${process.versions.node}\n` +
      `hint: Beside leadsheet, \`npm install node@${LEAST_NODE_MAJOR}\` brings one that npx uses.\n`,
  )
  process.exitCode = 2
}
