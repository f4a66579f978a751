/**
 * Checks that the `--json` output of each command matches the schema of its result, in whichever test it
 * runs.
 */
import { z } from 'zod'
import { listLeaves } from '../../../build/docs/commands.ts'
import { RESULTS, type ResultName } from '../../../src/cli/json/results.ts'

const names = (await listLeaves()).map(({ name }) => name)
/** The full names of a command that is called by a short form: itself, its `list` or its `show`. */
const STANDARD = ['', ' list', ' show']

/** Parses the result strictly, if there is one. */
export function holdToContract<F extends { readonly stdout: string }>(args: readonly string[], done: F): F {
  const name = resultOf(args)
  if (name === null || !args.includes('--json') || done.stdout === '') return done
  const schema: z.ZodType = RESULTS[name]
  const result: unknown = JSON.parse(done.stdout)
  // Without this, any record of an upstream would be accepted as one of our own leads.
  const own = schema instanceof z.ZodUnion && !args.includes('--remote') ? leadOf(name, schema) : schema
  const { error } = own.safeParse(result)
  if (error)
    throw new Error(`${name} --json is not as its schema in src/cli/json says: ${z.prettifyError(error)}`)

  return done
}

function leadOf(name: ResultName, schema: z.ZodUnion): z.ZodType {
  const [own] = schema.options
  return name === 'leads show' && own instanceof z.ZodType ? own : schema
}

export function resultOf(args: readonly string[]): ResultName | null {
  const words = args.filter((arg, index) => !arg.startsWith('-') && args[index - 1] !== '--config')
  for (let length = 3; length > 0; length -= 1) {
    const called = words.slice(0, length).join(' ')
    const name = STANDARD.map((standard) => called + standard).find((each) => names.includes(each))
    if (name !== undefined) return Object.hasOwn(RESULTS, name) ? (name as ResultName) : null
  }
  return null
}
