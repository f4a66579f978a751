/** The questions of `leadsheet init` about how mail is sent, and the defaults of the two providers with a tenant. */
import { settingFault } from '../../config/errors.ts'
import { mailWayOf } from '../../mail/mail-url.ts'
import type { Prompter, Question } from '../terminal/prompter.ts'
import { askLogin, type LoginAnswers, NONE, OAUTH } from './login-answers.ts'

export interface MailAnswers {
  /** The `mail.url`, with the password if there is one. */
  readonly url: string
  /** The login by OAuth; null if there is none. */
  readonly login: LoginAnswers | null
  /** The address of the mailbox that sends; null if it is not known. */
  readonly mailbox: string | null
}

/** The `mail.url` and the scope of each way of a provider, and what its logins have in common. */
interface Provider {
  readonly ways: Readonly<Record<'api' | 'smtp', readonly [url: string, scope: string]>>
  readonly login: LoginAnswers
}

/** `TENANT` stands for the tenant, and `MAILBOX` for the address of the mailbox. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  microsoft: {
    ways: {
      api: ['graph:', 'https://graph.microsoft.com/.default'],
      smtp: ['smtp://MAILBOX@smtp.office365.com:587', 'https://outlook.office365.com/.default'],
    },
    login: {
      token_url: 'https://login.microsoftonline.com/TENANT/oauth2/v2.0/token',
      grant: 'client_credentials',
      client_auth: 'body',
    },
  },
  google: {
    ways: {
      api: ['gmail:', 'https://www.googleapis.com/auth/gmail.send'],
      smtp: ['smtp://MAILBOX@smtp.gmail.com:587', 'https://mail.google.com/'],
    },
    login: { token_url: 'https://oauth2.googleapis.com/token', grant: 'jwt_bearer', subject: 'MAILBOX' },
  },
}

/** Tries a login by OAuth with these answers, tells the person what fails, and returns whether all is well. */
export type TryMail = (answers: MailAnswers) => Promise<boolean>

/**
 * Asks for the mail server, and for what its login needs. A login by OAuth is tried, and asked for once more after a
 * failure.
 * @param question the question for the address
 */
export async function askMail(
  prompter: Prompter,
  question: Question,
  tryMail: TryMail,
): Promise<MailAnswers> {
  const answer = await prompter.ask({
    ...question,
    fault: (text) => (text in PROVIDERS ? null : (question.fault?.(text) ?? null)),
  })
  const provider = PROVIDERS[answer]
  let asked = provider ? await askProvider(prompter, provider) : await askAccount(prompter, answer)
  for (let isAgain = false; asked.login !== null; isAgain = true) {
    asked = { ...asked, login: await askLogin(prompter, 'mail', asked.login) }
    if ((await tryMail(asked)) || isAgain) break
    prompter.say('  Correct it here, or in the files later. Enter keeps an answer.')
  }
  return asked
}

async function askProvider(prompter: Prompter, { ways, login }: Provider): Promise<MailAnswers> {
  prompter.say('  docs/how-to/send-mail.md leads through the pages of the provider first.')
  const mailbox = await prompter.ask({
    text: 'Address of the mailbox that sends',
    fault: (text) => settingFault(['alerts', 'recipients'], [text]),
  })
  const way = await prompter.ask({
    text: 'Way: api (over HTTPS) or smtp',
    standard: 'api',
    fault: (text) => (text in ways ? null : 'expected api or smtp'),
  })
  const fault = (text: string) => (/^[\w.-]+$/.test(text) ? null : 'expected an id or a domain')
  const isInTenant = login.token_url?.includes('TENANT')
  const tenant = isInTenant ? await prompter.ask({ text: 'Directory (tenant) id', fault }) : ''
  const [url, scope] = ways[way as keyof typeof ways]
  const filled = Object.entries({ ...login, scope }).map(([name, value]) => [
    name,
    value.replace('TENANT', tenant).replace('MAILBOX', mailbox),
  ])
  return {
    url: url.replace('MAILBOX', encodeURIComponent(mailbox)),
    mailbox,
    login: Object.fromEntries(filled),
  }
}

/** Asks for the user and the hidden password of a mail server, if its address has none. */
async function askAccount(prompter: Prompter, address: string): Promise<MailAnswers> {
  const asked = { url: address, login: null, mailbox: null }
  const url = new URL(address)
  const way = mailWayOf(url)?.login
  if (way === 'oauth') return { ...asked, login: {} }
  if (way !== 'any' || url.password !== '') return asked
  const user =
    decodeURIComponent(url.username) || (await prompter.ask({ text: 'User, or none', standard: NONE }))
  if (user === NONE) return asked
  const password = await prompter.askHidden(`Password (hidden; ${OAUTH} for a login by OAuth)`)
  const secret = password === OAUTH ? '' : `:${encodeURIComponent(password)}`
  const account = `${encodeURIComponent(user)}${secret}@`
  const withUser = address.replace(
    /^(smtps?:\/\/)(?:[^@/]*@)?/i,
    (_, scheme: string) => `${scheme}${account}`,
  )
  return { ...asked, url: withUser, login: password === OAUTH ? {} : null }
}
