/** The completion scripts for shells. The script for bash is run in bash. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

async function scriptFor(shell: string): Promise<string> {
  const { status, stdout } = await runWarm(['completion', shell], { cwd: folderWith() })
  expect(status).toBe(0)
  return stdout
}

test('bash completes commands, options, and the values that options and arguments may have', async () => {
  const script = await scriptFor('bash')
  const complete = (line: string): string[] => {
    const words = line.split(' ')
    const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
      _leadsheet; printf '%s\\n' "\${COMPREPLY[@]}"`
    const printed = execFileSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8' })
    return printed.split('\n').filter((word) => word !== '')
  }
  expect(complete('leadsheet rep')).toEqual(['report'])
  expect(complete('leadsheet report s')).toEqual(['send', 'show'])
  expect(complete('leadsheet report send daily --f')).toEqual(['--force'])
  expect(complete('leadsheet --json report send daily --q')).toEqual(['--quiet'])
  expect(complete('leadsheet schedule ')).toEqual(expect.arrayContaining(['list', '--json']))
  expect(complete('leadsheet outbox list --state f')).toEqual(['failed'])
  expect(complete('leadsheet outbox --sta')).toEqual(['--state'])
  expect(complete('leadsheet recipients frequency w')).toEqual(['weekly'])
  expect(complete('leadsheet completion z')).toEqual(['zsh'])
})

test('zsh takes the script of bash, and fish has a line for each command and option', async () => {
  expect(await scriptFor('zsh')).toContain(await scriptFor('bash'))
  const fish = await scriptFor('fish')
  expect(fish).toContain(`'test "x"(__leadsheet_path) = "x report"' -f -a send -d `)
  expect(fish).toContain(`'test "x"(__leadsheet_path) = "x outbox list"' -l state -x -a 'waiting sent `)
  expect(fish).not.toMatch(/^complete .*undefined/m)
})

test('another shell is refused', async () => {
  const { status, stderr } = await runWarm(['completion', 'tcsh'], { cwd: folderWith() })
  expect([status, stderr]).toEqual([2, expect.stringContaining('bash, zsh, fish')])
})
