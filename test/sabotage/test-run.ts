/** Runs named tests of a copy of the project in a separate process, and returns their results. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { type NamedTest, titlePattern } from '../support/docs/named-test.ts'

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      /** The error of the whole file, for example if it cannot be parsed. */
      message: z.string(),
      assertionResults: z.array(
        z.object({
          title: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()),
        }),
      ),
    }),
  ),
})

/** The result of a test. A test with several cases has a result for each. */
export interface Outcome {
  readonly title: string
  readonly status: string
  /** The message of the assertion or the error, with its stack. */
  readonly failure: string
}

/**
 * @returns the results of each test, in order; none for a test that could not be loaded
 * @throws Error if the runner writes no report
 */
export async function runTests(folder: string, tests: readonly NamedTest[]): Promise<Outcome[][]> {
  const report = join(folder, 'sabotage-report.json')
  rmSync(report, { force: true })
  const files = [...new Set(tests.map(({ file }) => file))]
  const names = tests.map(({ title }) => titlePattern(title)).join('|')
  const child = spawn(
    process.execPath,
    [
      ...[join(folder, 'node_modules/vitest/vitest.mjs'), 'run', ...files, '-t', `(${names})$`],
      ...['--maxWorkers', '1', '--reporter', 'json', '--outputFile', report],
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')])
  const results = readReport(report, said)
  return tests.map(({ file, title }) => {
    // The file has a result in each project. A test that one project skips may run in the other.
    const ofFile = results.filter(({ name }) => name === join(folder, file))
    const pattern = new RegExp(`^${titlePattern(title)}$`)
    const ran = ofFile
      .flatMap(({ assertionResults }) => assertionResults)
      .filter((one) => pattern.test(one.title) && one.status !== 'skipped')
    return ran.map((one) => ({
      title: one.title,
      status: one.status,
      failure: one.failureMessages.join('\n'),
    }))
  })
}

function readReport(file: string, said: string): z.infer<typeof reportSchema>['testResults'] {
  try {
    return reportSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).testResults
  } catch (cause) {
    throw new Error(`the tests gave no report: ${said}`, { cause })
  }
}
