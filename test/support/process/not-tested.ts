/**
 * Repeats at the end of a run which tests were skipped because programs are missing, with the one command
 * that installs them.
 */
import type { Reporter } from 'vitest/node'
import { SKIPPED } from './programs.ts'

/** @param said the skips known before the tests, in the format of {@link isSkipped} */
export function createSummary(said: readonly string[] = []): Reporter {
  const skips = new Set(said)
  return {
    onUserConsoleLog({ content }) {
      for (const line of content.split('\n')) {
        if (line.startsWith(SKIPPED)) skips.add(line.slice(SKIPPED.length))
      }
    },
    onTestRunEnd() {
      if (skips.size > 0) process.stdout.write(`${summaryOf([...skips]).join('\n')}\n`)
    },
  }
}

/** @param skips such as `the store in PostgreSQL: apt-get install postgresql` */
export function summaryOf(skips: readonly string[]): string[] {
  const remedies = skips.flatMap((skip) => skip.replace(/^.*?: /, '').split('; '))
  const packages = remedies.flatMap((remedy) => /^apt-get install (.+)$/.exec(remedy)?.[1]?.split(' ') ?? [])
  const commands = [
    ...(packages.length === 0 ? [] : [`apt-get install ${[...new Set(packages)].sort().join(' ')}`]),
    ...new Set(remedies.filter((remedy) => remedy.startsWith('npm '))),
  ]
  return [
    '',
    'Not tested on this machine:',
    ...[...skips].sort().map((skip) => `  ${skip}`),
    ...(commands.length === 0 ? [] : ['To test that too:', `  ${commands.join(' && ')}`]),
  ]
}
