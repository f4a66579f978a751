/**
 * A spam filter's judgement of the messages. If it is not installed, the tests are skipped with a message.
 */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { ReportFigures } from '../../../src/domain/figures.ts'
import { messageFor } from '../../../src/jobs/outbox/compose-message.ts'
import { createContents } from '../../../src/jobs/reports/report-content.ts'
import type { Audience } from '../../../src/jobs/reports/report-definition.ts'
import { buildMessage } from '../../../src/mail/message.ts'
import { folderWith } from '../../support/folder.ts'
import { DKIM_KEY } from '../../support/mail/dkim.ts'
import { MESSAGE, SENDER } from '../../support/mail/message.ts'
import { DAILY } from '../../support/mail/reports.ts'
import { findInstalled, isSkipped } from '../../support/process/programs.ts'
import { templates } from '../../support/report.ts'
import { busyDay, busyWeek, emptyDay, GENERATED_AT } from '../../support/reports/figures.ts'

/** SpamAssassin from Debian, with its own rules and without network access. */
const BIN = '/usr/bin/spamassassin'
const SCORE_MAX = 0.5
const TEST_MS = 60_000

const missing = findInstalled(BIN) ? null : 'apt-get install spamassassin'

describe.skipIf(isSkipped('what SpamAssassin thinks of the messages', missing))(
  'a message',
  { timeout: TEST_MS },
  () => {
    it.each([
      ['of a busy day', busyDay(), 'en-GB', []],
      ['of a week in German, with files', busyWeek(), 'de-DE', ['stalled.xlsx', 'changes.csv', 'charts']],
      ['of a day without anything', emptyDay(), 'en-GB', []],
    ] as const)('%s is no spam', async (what, figures, locale, attachments) => {
      const { score, rules } = judge(await messageOf(figures, { locale, attachments }))
      // biome-ignore lint/suspicious/noConsole: what was found is worth reading, whatever the test says of it
      console.info(`SpamAssassin on a message ${what}: ${score}\n  ${rules.join('\n  ')}`)
      expect(score).toBeLessThanOrEqual(SCORE_MAX)
    })

    it('is spam where it is: this filter can tell', async () => {
      const spam = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'
      expect(judge(await buildMessage({ ...MESSAGE, text: spam })).score).toBeGreaterThan(100)
    })
  },
)

async function messageOf(figures: ReportFigures, change: Partial<Audience>): Promise<Buffer> {
  const issue = { report: 'daily', period: figures.period, renderedAt: GENERATED_AT, figures }
  const findContent = createContents({ templates, maxBytes: 20_000_000, sender: SENDER }, DAILY, issue)
  const content = await findContent({ ...DAILY, ...change }, MESSAGE.to)
  return buildMessage(
    messageFor(
      { installationId: '0190f7c2' },
      issue,
      { address: MESSAGE.to, name: MESSAGE.toName },
      content,
      SENDER,
    ),
    DKIM_KEY,
  )
}

/** Returns the score, and the matching rules with their scores, such as `HTML_MESSAGE 0.0`. */
function judge(message: Buffer) {
  const args = ['--local', '--test-mode', '--nocreate-prefs']
  const env = { PATH: process.env.PATH, HOME: folderWith(), LANG: 'C.UTF-8' }
  const report = execFileSync(BIN, args, {
    input: message,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const [, details = ''] = report.split(/^Content analysis details:/m)
  const [, score] = /^\s*\((-?[\d.]+) points/.exec(details) ?? []
  if (score === undefined)
    throw new Error(`SpamAssassin does not say what it thinks: ${report.slice(-2_000)}`)
  const rules = [...details.matchAll(/^ *(-?\d+\.\d) (\w+)/gm)].map(([, points, rule]) => `${rule} ${points}`)
  return { score: Number(score), rules }
}
