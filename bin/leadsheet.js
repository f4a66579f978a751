#!/usr/bin/env node
/**
 * The command `leadsheet`: of a clone from its sources, else as it was built. It is no TypeScript, since an older Node
 * cannot even read the program, and would not say what it lacks.
 */
import { existsSync } from 'node:fs'

const LEAST_NODE_MAJOR = 24
const SOURCE = new URL('../src/main.ts', import.meta.url)

if (Number.parseInt(process.versions.node, 10) >= LEAST_NODE_MAJOR) {
  await import(existsSync(SOURCE) ? SOURCE : '../dist/main.js')
} else {
  process.stderr.write(
    `error: leadsheet needs Node ${LEAST_NODE_MAJOR} or newer; this is Node ${process.versions.node}\n`,
  )
  process.exitCode = 2
}
