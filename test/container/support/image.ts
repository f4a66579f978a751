/** Parses the Dockerfile: the command and the environment of its last stage, and the sources of its files. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Copy, DockerfileParser, type Instruction, type JSONInstruction } from 'dockerfile-ast'

export const ROOT = join(import.meta.dirname, '../../..')

export function readImage() {
  const parsed = DockerfileParser.parse(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
  const stages = stagesOf(parsed.getInstructions())
  const last = stages.at(-1)?.instructions ?? []
  const one = (keyword: string): Instruction => {
    const [found, another] = last.filter((each) => each.getKeyword() === keyword)
    if (found === undefined || another !== undefined) throw new Error(`there is not one ${keyword}`)
    return found
  }
  const env = parsed.getENVs().flatMap((each) => each.getProperties())
  return {
    /** The base image of each stage, such as `node:24.21.0-slim`. */
    bases: parsed.getFROMs().map((from) => from.getImage() ?? ''),
    env: Object.fromEntries(env.map((each) => [each.getName(), each.getValue() ?? ''])),
    user: one('USER').getArgumentsContent() ?? '',
    folder: one('WORKDIR').getArgumentsContent() ?? '',
    entrypoint: listIn(one('ENTRYPOINT')),
    command: listIn(one('CMD')),
    healthcheck: JSON.parse(/CMD (\[.*\])/.exec(one('HEALTHCHECK').toString())?.[1] ?? '[]') as string[],
    /** The copies of the last stage and of those before it. */
    copies: copiesOf(last),
    copiesBefore: stages.slice(0, -1).flatMap(({ instructions }) => copiesOf(instructions)),
    /** The shell commands of each stage by its name. The name of the last stage is ''. */
    runs: Object.fromEntries(stages.map(({ name, instructions }) => [name, runsOf(instructions)])),
  }
}

function stagesOf(instructions: readonly Instruction[]) {
  const stages: { name: string; instructions: Instruction[] }[] = []
  for (const each of instructions) {
    if (each.getKeyword() === 'FROM') {
      stages.push({ name: / AS (\S+)$/.exec(each.toString())?.[1] ?? '', instructions: [] })
    } else stages.at(-1)?.instructions.push(each)
  }
  return stages
}

function copiesOf(instructions: readonly Instruction[]) {
  return instructions
    .filter((each): each is Copy => each.getKeyword() === 'COPY')
    .map((copy) => {
      const paths = copy.getArguments().map((argument) => argument.getValue())
      return {
        /** The stage that the files come from; null for the checkout. */
        stage: copy.getFromFlag()?.getValue() ?? null,
        from: paths.slice(0, -1),
        to: paths.at(-1) ?? '',
      }
    })
}

function runsOf(instructions: readonly Instruction[]): string[] {
  return instructions
    .filter((each) => each.getKeyword() === 'RUN')
    .map((each) => (each.getArgumentsContent() ?? '').replace(/^--mount=\S+ /, ''))
}

function listIn(instruction: Instruction): string[] {
  return (instruction as JSONInstruction).getJSONStrings().map((each) => each.getJSONValue())
}
