/**
 * Asks questions at the terminal. An invalid answer is explained, and the question is asked again. Hidden
 * answers are never shown. Ctrl-C, Ctrl-D and an aborted signal throw run_interrupted.
 */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { LeadsheetError } from '../../errors.ts'

export interface Question {
  readonly text: string
  /** The answer if only Enter is pressed. */
  readonly standard?: string | undefined
  /** Returns why an answer is invalid, or null if the answer is valid. */
  readonly fault?: (answer: string) => string | null
}

export type Prompter = ReturnType<typeof openPrompter>

/** The input and output of a terminal. */
interface Console {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

export function openPrompter({ input, output }: Console, signal: AbortSignal) {
  /** Prints lines. Text from outside the program must be made safe with `plainText` first. */
  const say = (...lines: readonly string[]) => void output.write(`${lines.join('\n')}\n`)

  async function readLine(prompt: string, isHidden = false): Promise<string> {
    signal.throwIfAborted()
    let isShown = true
    const screen = new Writable({
      write(chunk, _encoding, done) {
        if (isShown) output.write(chunk)
        done()
      },
    })
    const lines = createInterface({
      input,
      output: isHidden ? screen : output,
      terminal: true,
      historySize: 0,
    })
    const left = new Promise<never>((_, reject) => {
      const stopped = new LeadsheetError('run_interrupted', 'stopped at a question', {
        hint: 'Nothing was written.',
      })
      lines.once('SIGINT', () => lines.close())
      lines.once('close', () => reject(signal.aborted ? signal.reason : stopped))
    })
    try {
      const answer = lines.question(prompt, { signal })
      isShown = !isHidden
      const given = await Promise.race([answer, left])
      if (isHidden) output.write('\n')
      return given
    } catch (thrown) {
      // After a question without an answer, the next text must begin on a line of its own.
      output.write('\n')
      throw thrown
    } finally {
      lines.close()
    }
  }

  async function ask({ text, standard, fault = () => null }: Question): Promise<string> {
    const prompt = `  ${text}${standard === undefined ? '' : ` [${standard}]`}: `
    for (;;) {
      const answer = (await readLine(prompt)).trim() || (standard ?? '')
      const wrong = answer === '' ? 'an answer is needed' : fault(answer)
      if (wrong === null) return answer
      say(`  ${wrong}`)
    }
  }
  return {
    say,
    /** Returns the answer without surrounding spaces. */
    ask,
    /** Returns the answer exactly as typed; empty for Enter alone. */
    askHidden: (text: string) => readLine(`  ${text}: `, true),
    confirm: async (text: string): Promise<boolean> => {
      const fault = (answer: string) => (/^(y|yes|n|no)$/i.test(answer) ? null : 'expected y or n')
      return /^y/i.test(await ask({ text: `${text} y/n`, standard: 'y', fault }))
    },
  }
}
