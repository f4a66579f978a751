/** The five questions of `leadsheet init`. What is given already is told and not asked for. */
import { settingFault } from '../../config/setting-fault.ts'
import { nextSlot } from '../../schedule/slots.ts'
import { localTime } from '../local-time.ts'
import type { Prompter } from '../prompter.ts'
import {
  type Answer,
  type Answers,
  addressesFault,
  addressesIn,
  detectedZone,
  NONE,
  STANDARD,
  said,
  windowOf,
} from './answers.ts'
import { AGAIN_OR_KEEP, type Asking, type Asks, answerOf, changeable, patiently } from './asking.ts'
import { askService } from './service.ts'
import { tryListen, tryMail } from './trials.ts'

const TIMES_SHOWN = 3

export interface Asked {
  readonly answers: Answers
  /** The profile as text, where one was found out and is to be written. */
  readonly probed: string | null
  /** Null where no test mail is wanted. */
  readonly testMailTo: string | null
}

/** @param testMailTo where one is wanted already; asked for otherwise */
export async function askAll(asking: Asking, testMailTo: string | null): Promise<Asked> {
  const { probed, ...service } = await askService(asking)
  const mail = await askMail(asking)
  const people = await askPeople(asking)
  const time = await askTime(asking)
  const window = await askWindow(asking)
  const answers = { ...service, ...mail, ...people, ...time, ...window }
  return { answers, probed, testMailTo: testMailTo ?? (await askTestMail(asking, people)) }
}

async function askMail(asking: Asking): Promise<Pick<Answers, 'mailUrl' | 'from'>> {
  const { prompter, tell } = asking
  prompter.say('', '2 of 5  The mail server, or a folder that gets the mails as .eml files')
  let { given } = asking
  let sender: string | undefined
  for (let standard = 'file:./outbox'; ; ) {
    const mailUrl = await askMailUrl(prompter, given.mailUrl, standard)
    const from = await answerOf(prompter, given.from, {
      text: 'Sender',
      standard: sender ?? senderFor(mailUrl.value),
      fault: (text) => settingFault(['mail', 'from'], text),
    })
    const check = await patiently(prompter, tryMail(mailUrl.value, asking))
    tell(check)
    if (check.verdict === 'ok') return { mailUrl, from }
    if ((await prompter.choose(...AGAIN_OR_KEEP)) === 'keep') return { mailUrl, from }
    given = changeable(given)
    standard = withoutLogin(mailUrl.value)
    sender = from.value === senderFor(mailUrl.value) ? undefined : from.value
  }
}

/** With the password, which is asked for by itself. */
async function askMailUrl(prompter: Prompter, given: Answer | undefined, standard: string): Promise<Answer> {
  if (given !== undefined && (given.variable ?? given.file) !== null) {
    prompter.say(`  Mail server: in ${given.variable ?? given.file}, which stays there`)
    return given
  }
  const { value } = await answerOf(prompter, given, {
    text: 'Address, such as smtp://mail.example.com:587',
    standard,
    fault: (url) => settingFault(['mail', 'url'], url),
  })
  const { protocol, username, password } = new URL(value)
  if (protocol === 'file:' || password !== '') return said(value)
  const user = decodeURIComponent(username) || (await askUser(prompter, given))
  return said(user === NONE ? value : withLogin(value, user, await prompter.askHidden('Password (hidden)')))
}

/** Who gave the address as an option would have given a user with it. */
async function askUser(prompter: Prompter, given: Answer | undefined): Promise<string> {
  return given === undefined ? prompter.ask({ text: 'User, or none', standard: NONE }) : NONE
}

function withLogin(url: string, user: string, password: string): string {
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
  return withoutLogin(url).replace(/^smtps?:\/\//i, (scheme) => `${scheme}${login}`)
}

function withoutLogin(mailUrl: string): string {
  const url = new URL(mailUrl)
  url.username = ''
  url.password = ''
  return url.href
}

/** Whoever logs in may send in their own name; in a folder the sender does not matter. */
function senderFor(mailUrl: string): string | undefined {
  const { protocol, username } = new URL(mailUrl)
  const user = decodeURIComponent(username)
  if (settingFault(['operators', 'recipients'], [user]) === null) return `Lead reports <${user}>`
  return protocol === 'file:' ? 'Lead reports <leadsheet@localhost>' : undefined
}

async function askPeople(asking: Asking): Promise<Pick<Answers, 'recipients' | 'operators'>> {
  const { prompter, given } = asking
  prompter.say('', '3 of 5  Who gets the report, and who is told of troubles')
  const recipients = await addressesOf(prompter, given.recipients, {
    text: 'Addresses for the report, with commas between them',
    fault: addressesFault,
  })
  const operators = await addressesOf(prompter, given.operators, {
    text: `Addresses for troubles, or ${NONE}`,
    standard: recipients.value[0],
    fault: (text) => (text === NONE ? null : addressesFault(text)),
  })
  return { recipients, operators }
}

async function askTime(asking: Asking): Promise<Pick<Answers, 'timeZone' | 'schedule'>> {
  const { prompter, given, now } = asking
  prompter.say('', '4 of 5  When the report comes')
  const timeZone = await answerOf(prompter, given.timeZone, {
    text: 'Time zone',
    standard: detectedZone(),
    fault: (name) => settingFault(['time_zone'], name),
  })
  const schedule = await answerOf(prompter, given.schedule, {
    text: 'When, in words or as cron',
    standard: STANDARD.schedule,
    fault: (text) => settingFault(['sync', 'every'], text),
  })
  const timing = { expression: schedule.value, timeZone: timeZone.value, holidays: [] }
  const times: string[] = []
  for (let at = nextSlot(timing, now); at !== null && times.length < TIMES_SHOWN; at = nextSlot(timing, at))
    times.push(localTime(at, timeZone.value))
  prompter.say(`  That is ${times.join(', ')} …`)
  return { timeZone, schedule }
}

async function askWindow(asking: Asking): Promise<Pick<Answers, 'listen' | 'token'>> {
  const { prompter, tell, given } = asking
  prompter.say('', '5 of 5  The window: how all stands, in a browser')
  for (let known = given.listen, standard: string = STANDARD.listen; ; ) {
    const listen = await answerOf(prompter, known, {
      text: `Where it listens, or ${NONE}`,
      standard,
      fault: (text) => settingFault(['web', 'listen'], text),
    })
    const check = await tryListen(listen.value)
    if (check.verdict === 'ok') return windowOf(listen, given.token)
    tell(check)
    if ((await prompter.choose(...AGAIN_OR_KEEP)) === 'keep') return windowOf(listen, given.token)
    known = changeable(given).listen
    standard = listen.value
  }
}

async function askTestMail(
  { prompter }: Asking,
  { operators, recipients }: Pick<Answers, 'recipients' | 'operators'>,
): Promise<string | null> {
  const [to = null] = [...operators.value, ...recipients.value]
  prompter.say('')
  return to !== null && (await prompter.confirm(`Send a test mail to ${to}?`)) ? to : null
}

async function addressesOf(
  prompter: Prompter,
  given: Answer<readonly string[]> | undefined,
  question: Asks,
): Promise<Answer<readonly string[]>> {
  const shown = given && { ...given, value: given.value.join(', ') || NONE }
  const { value } = await answerOf(prompter, shown, question)
  return given ?? said(value === NONE ? [] : addressesIn(value))
}
