#!/usr/bin/env node
/** What the command `leadsheet` starts: an older Node cannot even read the program, and would not say what it lacks. */

const LEAST_NODE_MAJOR = 24

if (Number.parseInt(process.versions.node, 10) >= LEAST_NODE_MAJOR) {
  await import('./main.ts')
} else {
  process.stderr.write(
    `error: leadsheet needs Node ${LEAST_NODE_MAJOR} or newer; this is Node ${process.versions.node}\n`,
  )
  process.exitCode = 2
}
