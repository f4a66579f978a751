/**
 * `leadsheet webhooks register`: registers a webhook at the upstream for this daemon or for any address.
 * Other commands also use the texts about webhooks in this file.
 */
import { randomUUID } from 'node:crypto'
import { relative } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { profileOf } from '../../../app/configured-upstream.ts'
import { installationOf } from '../../../app/health-installation.ts'
import { openDataIfThere } from '../../../app/installation.ts'
import { readFacts } from '../../../checks/check.ts'
import type { Config } from '../../../config/config.ts'
import { listenText } from '../../../config/schema-web.ts'
import { EVENT_TYPES, type EventType, webhookCreateSchema } from '../../../contract/webhook.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import type { OwnWebhook, SelfRegistration } from '../../../jobs/events/register-webhook.ts'
import { registerSelf, requireOwn } from '../../../jobs/events/register-webhook.ts'
import { readRegistration, registrationFile } from '../../../jobs/events/webhook-registration.ts'
import type { Source } from '../../../upstream/source.ts'
import type { WireWebhook, WireWebhookAttempt } from '../../../upstream/webhooks/registered-webhooks.ts'
import { WEBHOOK_PATH } from '../../../web/webhooks.ts'
import { addExamples, showing } from '../../command.ts'
import { fields, formatInstant } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'
import { withSource } from './with-source.ts'

interface RegisterOptions {
  readonly self?: boolean
  readonly event?: readonly EventType[]
  readonly description?: string
}

/**
 * The result of the test message after a registration, or a sentence that says why no test message was sent.
 */
type Trial = WireWebhookAttempt | string

const ADDRESS_HINT = `The upstream has to reach the address: with https://, and public unless ${shellCommand('service run --webhooks-to-loopback')} runs it.`
const WHERE_TO_LOOK =
  'web.public_url has to lead from the upstream to the daemon, whose log says why it refused a message.'

export function defineRegister(parent: Command, terminal: Terminal): void {
  const register = parent
    .command('register')
    .description('register this daemon or another address for events')
    .argument(
      '[url]',
      'address to send events to, by POST, http:// or https://; the secret is shown only once',
    )
    .option('--self', 'register this daemon, at web.public_url; the secret is kept in the data directory')
    .option(
      '--event <type>',
      `only events of this type; may be repeated: ${EVENT_TYPES.join(', ')}`,
      collectEvent,
    )
    .addOption(
      new Option('--description <text>', 'description of the webhook, such as what it is for').conflicts(
        'self',
      ),
    )
    .action(showing(terminal, runRegister))
  addExamples(register, [
    'webhooks register --self',
    'webhooks register https://hooks.example.com/leads --event lead.created --event lead.removed',
  ])
}

async function runRegister(
  terminal: Terminal,
  url: string | undefined,
  options: RegisterOptions,
): Promise<Result> {
  if ((url === undefined) === (options.self !== true)) {
    throw new LeadsheetError('usage_invalid', 'either --self or an address is registered', {
      hint: `${shellCommand('webhooks register --self')} is for this daemon.`,
    })
  }
  return url === undefined ? registerThis(terminal, options) : registerUrl(terminal, url, options)
}

async function registerUrl(terminal: Terminal, url: string, options: RegisterOptions): Promise<Result> {
  const { event: events = EVENT_TYPES, description } = options
  const body = webhookCreateSchema.safeParse({ url, events, description })
  if (!body.success) {
    throw body.error.issues.some(({ path }) => path[0] === 'description')
      ? new LeadsheetError('usage_invalid', '--description is too long: it may have 200 characters')
      : new LeadsheetError('usage_invalid', `"${url}" is not an address that events can be sent to`, {
          hint: 'Give a URL with http:// or https://.',
        })
  }
  const webhook = await withSource(terminal, (source) =>
    source.webhooks.register(body.data, randomUUID(), terminal.signal),
  ).catch((thrown: unknown) => {
    throw explained(thrown)
  })
  return {
    data: webhook,
    text: [
      fields({
        Webhook: webhook.id,
        URL: webhook.url,
        Events: eventsText(webhook.events),
        State: webhookState(webhook),
        Secret: webhook.secret,
      }),
    ],
    notes: ['Keep the secret: it is not shown again.'],
  }
}

async function registerThis(
  terminal: Terminal,
  { event: events = EVENT_TYPES }: RegisterOptions,
): Promise<Result> {
  const config = await terminal.config()
  const url = requireReceiverUrl(config)
  return withSource(terminal, async (source) => {
    const own = { ...ownWebhook(config, source), url, events }
    const done = await registerSelf(own, terminal.signal).catch((thrown: unknown) => {
      throw explained(thrown)
    })
    const trial = await tryOut(terminal, config, source, done)
    const hasFailed = typeof trial !== 'string' && trial.outcome !== 'delivered'
    if (hasFailed) terminal.end('partly')
    const { registeredAt, ...registered } = done.registration
    return {
      data: {
        id: registered.id,
        url: registered.url,
        events: registered.events,
        registered_at: registeredAt,
        outcome: done.outcome,
        left_over: done.leftOver,
        test: typeof trial === 'string' ? null : trial,
      },
      text: [
        fields({
          Webhook: registered.id,
          URL: registered.url,
          Events: eventsText(registered.events),
          Registered: formatInstant(registeredAt),
          Test: typeof trial === 'string' ? trial : attemptText(trial),
        }),
      ],
      notes: [...notesOf(config, done), ...(hasFailed ? [WHERE_TO_LOOK] : [])],
    }
  })
}

/** Adds a hint to the error of an upstream that has refused the address. */
function explained(thrown: unknown): unknown {
  return thrown instanceof LeadsheetError && thrown.code === 'api_rejected'
    ? new LeadsheetError(thrown.code, thrown.message, { hint: ADDRESS_HINT, cause: thrown })
    : thrown
}

async function tryOut(
  terminal: Terminal,
  config: Config,
  source: Source,
  { registration }: SelfRegistration,
): Promise<Trial> {
  if (!(await isDaemonAlive(config))) {
    return `not now, since no daemon runs here: ${shellCommand('run')}, then ${shellCommand('webhooks register --self')} again`
  }
  try {
    return await source.webhooks.test(registration.id, terminal.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
    return 'not possible: the upstream offers no way to test a webhook'
  }
}

function notesOf(config: Config, { outcome, leftOver }: SelfRegistration): string[] {
  const file = registrationFile(config.dataDir)
  const words = {
    registered: `Registered. Its secret is in ${relative('', file) || file}, for this user alone.`,
    replaced: 'Registered anew, in the place of the one before.',
    already: 'Registered already, and active.',
  }
  const unneeded = `${leftOver} is not needed any more, and could not be removed; try ${shellCommand(`webhooks remove ${leftOver} --yes`)}.`
  return leftOver === null ? [words[outcome]] : [words[outcome], unneeded]
}

function collectEvent(value: string, before: readonly EventType[] = []): readonly EventType[] {
  const type = EVENT_TYPES.find((known) => known === value)
  if (type === undefined) throw new InvalidArgumentError(`Expected one of ${EVENT_TYPES.join(', ')}.`)
  return [...before, type]
}

export function ownWebhook({ dataDir }: Config, source: Source): OwnWebhook {
  return { source, file: registrationFile(dataDir), now: () => new Date() }
}

/** Returns the address at which the daemon receives events, or null if `web.public_url` is not set. */
export function receiverUrl({ web: { publicUrl } }: Pick<Config, 'web'>): string | null {
  return publicUrl === null ? null : `${publicUrl}${WEBHOOK_PATH}`
}

/**
 * Returns the address at which the daemon receives events.
 * @throws LeadsheetError config_missing if the settings have no address, config_invalid if the profile
 * describes no webhooks
 */
function requireReceiverUrl(config: Config): string {
  const profile = profileOf(config)
  if (profile.webhook === undefined) {
    throw new LeadsheetError(
      'config_invalid',
      `The profile ${profile.name} does not say how events are verified and read: it has no part webhook`,
      { hint: 'Add it; docs/reference/profile.md shows how. Without it changes come with each sync.' },
    )
  }
  if (config.web.listen === null) {
    throw new LeadsheetError('config_missing', 'web.listen is none: nothing would take events', {
      hint: 'Give it an address (LEADSHEET_WEB_LISTEN), and set web.public_url.',
    })
  }
  const url = receiverUrl(config)
  if (url !== null) return url
  const listen = listenText(config.web.listen)
  throw new LeadsheetError('config_missing', 'web.public_url is not set: the upstream could not reach us', {
    hint: `Set it to the https:// address that leads from outside to web.listen (${listen}), such as that of a proxy; for an upstream on this machine http://${listen} will do.`,
  })
}

/**
 * Returns the given id. If it is undefined, returns the id of this installation's webhook.
 * @throws LeadsheetError usage_invalid, webhook_unreadable
 */
export function webhookIdOf({ dataDir, events }: Config, id: string | undefined): string {
  if (id !== undefined) return id
  const file = registrationFile(dataDir)
  if (readRegistration(file) === null && events.secret !== null) {
    throw new LeadsheetError('usage_invalid', 'the webhook of this installation was registered by hand', {
      hint: `${shellCommand('webhooks list')} shows it where the upstream tells, to be named by its ID; else its own interface does.`,
    })
  }
  return requireOwn(file).id
}

/** Returns true if a daemon works on this store, on this machine or another. */
async function isDaemonAlive(config: Config): Promise<boolean> {
  await using store = await openDataIfThere(config)
  return (await readFacts(installationOf(config, store), {}, new Date()).daemonState()) === 'alive'
}

const DISABLED_WORDS = {
  gone: 'its address answered 410',
  failing: 'it took nothing for days',
} as const

/** Formats the state of a webhook: `disabled since 2026-11-20 08:15Z: its address answered 410`. */
export function webhookState(webhook: WireWebhook): string {
  const { status, disabled_at, disabled_reason, failing_since } = webhook
  if (status === 'disabled') {
    const since = disabled_at === null ? '' : ` since ${formatInstant(disabled_at)}`
    return `disabled${since}${disabled_reason === null ? '' : `: ${DISABLED_WORDS[disabled_reason]}`}`
  }
  return failing_since === null ? 'active' : `active, failing since ${formatInstant(failing_since)}`
}

export function eventsText(events: readonly string[]): string {
  return EVENT_TYPES.every((type) => events.includes(type)) ? 'all' : events.join(', ')
}

/** Formats an attempt to send a message to a webhook: `arrived: answered 204 after 12 ms`. */
function attemptText({ outcome, status, error, duration_ms }: WireWebhookAttempt): string {
  const answer = status === null ? null : `answered ${status}`
  const what = outcome === 'delivered' ? (answer ?? 'taken') : (error ?? answer ?? 'no reason is told')
  return `${outcome === 'delivered' ? 'arrived' : 'failed'}: ${what} after ${duration_ms} ms`
}
