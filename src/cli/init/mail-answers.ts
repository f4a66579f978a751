/** The questions of `leadsheet init` about how mail is sent, and the defaults of the two providers with a tenant. */
import { settingFault } from '../../config/errors.ts'
import { mailWayOf } from '../../mail/mail-url.ts'
import type { Prompter, Question } from '../terminal/prompter.ts'
import { askLogin, type LoginAnswers, OAUTH } from './login-answers.ts'

const NONE = 'none'

export interface MailAnswers {
  /** The `mail.url`, with the password if there is one. */
  readonly url: string
  /** The login by OAuth; null if there is none. */
  readonly login: LoginAnswers | null
  /** The address of the mailbox that sends; null if it is not known. */
  readonly mailbox: string | null
}

interface Provider {
  readonly api: string
  readonly server: string
  /** The scopes of the API and of SMTP. */
  readonly scopes: readonly [api: string, smtp: string]
  /** The login of a mailbox, apart from its scope. */
  readonly login: (tenant: string, mailbox: string) => LoginAnswers
  readonly hasTenant: boolean
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  microsoft: {
    api: 'graph:',
    server: 'smtp.office365.com:587',
    scopes: ['https://graph.microsoft.com/.default', 'https://outlook.office365.com/.default'],
    login: (tenant) => ({
      token_url: `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
      grant: 'client_credentials',
      client_auth: 'body',
    }),
    hasTenant: true,
  },
  google: {
    api: 'gmail:',
    server: 'smtp.gmail.com:587',
    scopes: ['https://www.googleapis.com/auth/gmail.send', 'https://mail.google.com/'],
    login: (_tenant, mailbox) => ({
      token_url: 'https://oauth2.googleapis.com/token',
      grant: 'jwt_bearer',
      subject: mailbox,
    }),
    hasTenant: false,
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

async function askProvider(prompter: Prompter, provider: Provider): Promise<MailAnswers> {
  const { api, server, scopes, login, hasTenant } = provider
  prompter.say('  docs/how-to/send-mail.md leads through the pages of the provider first.')
  const mailbox = await prompter.ask({
    text: 'Address of the mailbox that sends',
    fault: (text) => settingFault(['alerts', 'recipients'], [text]),
  })
  const way = await prompter.ask({
    text: 'Way: api (over HTTPS) or smtp',
    standard: 'api',
    fault: (text) => (['api', 'smtp'].includes(text) ? null : 'expected api or smtp'),
  })
  const tenant = hasTenant
    ? await prompter.ask({
        text: 'Directory (tenant) id',
        fault: (text) => (/^[\w.-]+$/.test(text) ? null : 'expected an id or a domain'),
      })
    : ''
  const isApi = way === 'api'
  const url = isApi ? api : `smtp://${encodeURIComponent(mailbox)}@${server}`
  return { url, mailbox, login: { ...login(tenant, mailbox), scope: scopes[isApi ? 0 : 1] } }
}

/** Asks for the user and the hidden password of a mail server, if its address has none. */
async function askAccount(prompter: Prompter, address: string): Promise<MailAnswers> {
  const url = new URL(address)
  const { login } = mailWayOf(url) ?? { login: NONE }
  if (login === 'oauth') return { url: address, login: {}, mailbox: null }
  if (login !== 'any' || url.password !== '') return { url: address, login: null, mailbox: null }
  const user =
    decodeURIComponent(url.username) || (await prompter.ask({ text: 'User, or none', standard: NONE }))
  if (user === NONE) return { url: address, login: null, mailbox: null }
  const password = await prompter.askHidden(`Password (hidden; ${OAUTH} for a login by OAuth)`)
  const isOAuth = password === OAUTH
  const account = `${encodeURIComponent(user)}${isOAuth ? '' : `:${encodeURIComponent(password)}`}@`
  const withUser = address.replace(
    /^(smtps?:\/\/)(?:[^@/]*@)?/i,
    (_, scheme: string) => `${scheme}${account}`,
  )
  return { url: withUser, login: isOAuth ? {} : null, mailbox: null }
}
