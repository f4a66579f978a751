import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openPrompter } from '../../../src/cli/terminal/prompter.ts'
import { LeadsheetError } from '../../../src/errors.ts'

function openTyped() {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ''
  output.on('data', (chunk: Buffer) => {
    shown += chunk.toString('utf8')
  })
  const stop = new AbortController()
  return {
    input,
    stop,
    prompter: openPrompter({ input, output }, stop.signal),
    type: (keys: string) => void input.write(keys),
    shows: (text: string) => expect.poll(() => shown).toContain(text),
    shown: () => shown,
  }
}

describe('a question', () => {
  test('takes what is typed without spaces around it, and for Enter alone what it offers', async () => {
    const { prompter, type, shows } = openTyped()
    const first = prompter.ask({ text: 'Sender' })
    type('  Ana <ana@example.com>  \r')
    expect(await first).toBe('Ana <ana@example.com>')
    const second = prompter.ask({ text: 'Zone', standard: 'Europe/Berlin' })
    await shows('Zone [Europe/Berlin]: ')
    type('\r')
    expect(await second).toBe('Europe/Berlin')
  })

  test('is asked again with what was wrong, on an empty line', async () => {
    const { prompter, type, shows } = openTyped()
    const fault = (answer: string) => (answer.endsWith('!') ? null : 'a ! is missing')
    const answer = prompter.ask({ text: 'Shout', fault })
    type('hey\r')
    await shows('a ! is missing')
    type('ho!\r')
    expect(await answer).toBe('ho!')
  })

  test('that offers nothing needs an answer', async () => {
    const { prompter, type, shows } = openTyped()
    const answer = prompter.ask({ text: 'Sender' })
    type('\r')
    await shows('an answer is needed')
    type('ana\r')
    expect(await answer).toBe('ana')
  })

  test('that hides its answer shows nothing of it, and keeps all of it', async () => {
    const { prompter, type, shown } = openTyped()
    const answer = prompter.askHidden('Password')
    type(' sécrets\x7fT: ü#\r')
    expect(await answer).toBe(' sécretT: ü#')
    expect(shown()).toContain('Password: ')
    expect(shown()).not.toMatch(/s.cret|T:|ü|\*/)
  })

  test('of yes or no takes Enter for a yes', async () => {
    const { prompter, type, shows } = openTyped()
    const first = prompter.confirm('Send it?')
    type('\r')
    expect(await first).toBe(true)
    const second = prompter.confirm('Really?')
    await shows('Really? y/n [y]: ')
    type('n\r')
    expect(await second).toBe(false)
  })
})

describe('questions end', () => {
  test.each<[string, (typed: ReturnType<typeof openTyped>) => void]>([
    ['Ctrl-C', ({ type }) => type('ana\x03')],
    ['Ctrl-D', ({ type }) => type('ana\x15\x04')],
    ['whatever they are typed on', ({ input }) => void input.end()],
  ])('with %s', async (_name, end) => {
    const typed = openTyped()
    const asked = expect(typed.prompter.askHidden('Password')).rejects
    end(typed)
    await asked.toMatchObject({ code: 'run_interrupted' })
  })

  test('when the program is told to stop', async () => {
    const { prompter, stop } = openTyped()
    const asked = expect(prompter.ask({ text: 'Sender' })).rejects.toMatchObject({ name: 'AbortError' })
    stop.abort(new LeadsheetError('run_interrupted', 'stopped by SIGTERM'))
    await asked
    await expect(prompter.ask({ text: 'Sender' })).rejects.toMatchObject({ message: 'stopped by SIGTERM' })
  })
})
