/** SpamAssassin from Debian, with its own rules and without network access. */
import { execFile } from 'node:child_process'
import { folderWith } from '../../support/folder.ts'
import { findInstalled } from '../../support/process/programs.ts'

const BIN = '/usr/bin/spamassassin'

export interface Judgement {
  readonly score: number
  /** The matching rules with their scores, such as `HTML_MESSAGE 0.0`. */
  readonly rules: readonly string[]
}

export function missingSpamAssassin(): string | null {
  return findInstalled(BIN) ? null : 'apt-get install spamassassin'
}

export async function judge(message: Buffer): Promise<Judgement> {
  const home = folderWith()
  const report = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      BIN,
      ['--local', '--test-mode', '--nocreate-prefs'],
      { env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    )
    child.stdin?.end(message)
  })
  const [, details = ''] = report.split(/^Content analysis details:/m)
  const [, score] = /^\s*\((-?[\d.]+) points/.exec(details) ?? []
  if (score === undefined)
    throw new Error(`SpamAssassin does not say what it thinks: ${report.slice(-2_000)}`)
  const rules = [...details.matchAll(/^ *(-?\d+\.\d) (\w+)/gm)].map(([, points, rule]) => `${rule} ${points}`)
  return { score: Number(score), rules }
}
