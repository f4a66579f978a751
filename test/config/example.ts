/** Examples of settings: variables of the environment, each in a line of its own, and below them the file. */

const VARIABLE = /^(\w+)=(.*)$/

export function inputOf(text: string) {
  const lines = text.split('\n')
  const isVariable = (line: string) => VARIABLE.test(line) && !line.startsWith(' ')
  const env = lines.filter(isVariable).map((line) => VARIABLE.exec(line)?.slice(1) ?? [])
  return {
    env: Object.fromEntries(env) as Record<string, string>,
    yaml: lines.filter((line) => !isVariable(line)).join('\n'),
  }
}
