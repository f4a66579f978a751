/** The mail that `leadsheet init` sends: in the look of all others, and with what comes next. */

import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import { requireMail } from '../../config/requirements.ts'
import { shellCommand } from '../../errors.ts'
import { messageId } from '../../mail/message.ts'
import type { Letter } from '../../model.ts'
import { openNoticeLetter } from '../../report/render/notice-letter.ts'
import { nextSlot } from '../../schedule/slots.ts'
import { attempt, type Check, ok } from '../../upstream/checkup.ts'
import { TEMPLATES } from '../installation.ts'
import { localTime } from '../local-time.ts'
import { openMail } from '../mail.ts'
import { placeOf } from '../operators.ts'
import { schedulesOf } from '../schedules.ts'
import { ownFolder } from '../templates.ts'
import type { TrialDeps } from './trials.ts'

/** In the headers, in the place of the name of a report. */
const REPORT = 'test'

export async function sendTestMail(config: Config, to: string, { log, signal }: TrialDeps): Promise<Check> {
  return attempt('test mail', 'check mail.url and mail.from', async () => {
    await using transport = openMail(requireMail(config), log)
    const { response } = await transport.send(await composeTestMail(config, to, new Date()), { signal })
    return ok('test mail', `${to}: ${response}`)
  })
}

async function composeTestMail(config: Config, to: string, now: Date): Promise<Letter> {
  const { from, replyTo } = requireMail(config)
  const render = await openNoticeLetter(TEMPLATES, ownFolder(config))
  const date = now.toISOString()
  const content = render({
    title: 'This mail got through',
    place: placeOf(config),
    sections: [{ title: 'What comes next', isGood: true, lines: linesOf(config, now), more: null }],
    footer: [`You get this because ${shellCommand('init')} was asked to try the mail server.`],
  })
  const period = { from: date, to: date }
  const identity = { installationId: randomUUID(), report: REPORT, period, recipient: to, revision: 0, from }
  return {
    ...{ from, to, toName: null, replyTo, unsubscribe: { mailto: replyTo ?? from, url: null } },
    ...{ ...content, lang: 'en', files: [], date, report: REPORT },
    messageId: messageId(identity),
  }
}

function linesOf(config: Config, now: Date) {
  return schedulesOf(config).flatMap(({ report, timing }) => {
    const next = nextSlot(timing, now)
    if (report === null || next === null) return []
    const [first = 'nobody', ...others] = report.recipients.map(({ address }) => address)
    const whom = others.length === 0 ? first : `${first} and ${others.length} more`
    return [
      {
        heading: `The ${report.name} report`,
        message: `It comes ${localTime(next, timing.timeZone)} for the first time, once the daemon runs, and goes to ${whom}.`,
        hint: null,
        times: `${timing.expression}, ${timing.timeZone}`,
      },
    ]
  })
}
