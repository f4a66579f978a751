/**
 * `leadsheet completion`: prints a completion script for a shell, generated from the commands and options.
 */
import { Argument, type Command, type Option } from 'commander'
import { addExamples } from '../../command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

type Shell = keyof typeof SCRIPTS

/**
 * The words that can follow a command. `path` is the command, such as ` report`. An empty path means the
 * program itself.
 */
interface Place {
  readonly path: string
  readonly commands: readonly Command[]
  readonly options: readonly Option[]
  /** The fixed values that arguments of the command accept. */
  readonly values: readonly string[]
}

/** @param loadAll loads all commands and returns the program */
export function defineCompletion(
  command: Command,
  terminal: Terminal,
  loadAll: () => Promise<Command>,
): void {
  command
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices(Object.keys(SCRIPTS)))
    .action(async (shell: Shell) => {
      const program = await loadAll()
      terminal.print(SCRIPTS[shell](placesOf(program, '', program.options)))
    })
  addExamples(command, [
    'completion bash > ~/.local/share/bash-completion/completions/leadsheet',
    'completion zsh >> ~/.zshrc',
    'completion fish > ~/.config/fish/completions/leadsheet.fish',
  ])
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

function placesOf(command: Command, path: string, global: readonly Option[]): Place[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  // The options of a default subcommand belong to its parent too: `outbox --state` means `outbox list
  // --state`.
  const standard = commands.find((each) => each.name() === defaultName(command))
  const own = [command, ...(standard ? [standard] : [])].flatMap((each) => help.visibleOptions(each))
  const seen = new Set<string>()
  const options = [...own, ...global].filter((option) => {
    const isNew = !seen.has(option.flags)
    seen.add(option.flags)
    return isNew
  })
  const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const inner = commands.flatMap((each) => placesOf(each, `${path} ${each.name()}`, global))
  return [{ path, commands, options, values }, ...inner]
}

/** Reads the name of the default subcommand from a private field, because commander has no public one. */
function defaultName(command: Command): string | null {
  const name: unknown = Reflect.get(command, '_defaultCommandName')
  return typeof name === 'string' ? name : null
}

function namesOf(option: Option): string[] {
  return [option.short, option.long].filter((name) => typeof name === 'string')
}

function bashScript(places: readonly Place[]): string {
  const paths = places.flatMap(({ path }) => (path === '' ? [] : `"${path}"`))
  const choices = places.flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.argChoices === undefined
        ? []
        : namesOf(option).map((name) => `    "${path} ${name}") words="${option.argChoices?.join(' ')}" ;;`),
    ),
  )
  const words = places.map(({ path, commands, options, values }) => {
    const all = [...commands.map((each) => each.name()), ...values, ...options.flatMap(namesOf)]
    return `    "${path}") words="${all.join(' ')}" ;;`
  })
  return `_leadsheet() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= words= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path \${COMP_WORDS[index]}" in
    ${paths.join(' | ')}) path="$path \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD - 1]}" in
${choices.join('\n')}
  *)
    case "$path" in
${words.join('\n')}
    esac
    ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _leadsheet leadsheet`
}

/** Returns the bash script, with commands that switch on the bash compatibility mode of zsh. */
function zshScript(places: readonly Place[]): string {
  return `autoload -Uz compinit bashcompinit
compinit
bashcompinit
${bashScript(places)}`
}

function fishScript(places: readonly Place[]): string {
  const paths = places.flatMap(({ path }) => (path === '' ? [] : quoted(path)))
  const lines = places.flatMap(({ path, commands, options, values }) => {
    const head = `complete -c leadsheet -n 'test "x"(__leadsheet_path) = "x${path}"'`
    return [
      ...commands.map((each) => `${head} -f -a ${each.name()} -d ${quoted(each.description())}`),
      ...(values.length === 0 ? [] : [`${head} -f -a ${quoted(values.join(' '))}`]),
      ...options.map((option) => `${head} ${fishOption(option)} -d ${quoted(option.description)}`),
    ]
  })
  return `set -g __leadsheet_paths ${paths.join(' ')}
function __leadsheet_path
  set -l path ''
  for word in (commandline -opc)[2..]
    contains -- "$path $word" $__leadsheet_paths; and set path "$path $word"
  end
  echo $path
end
${lines.join('\n')}`
}

function fishOption({ short, long, required, optional, argChoices }: Option): string {
  const names = [short ? `-s ${short.slice(1)}` : '', long ? `-l ${long.slice(2)}` : ''].filter(Boolean)
  const value = argChoices ? [`-x -a ${quoted(argChoices.join(' '))}`] : required || optional ? ['-r'] : []
  return [...names, ...value].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
