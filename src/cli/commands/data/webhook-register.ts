/** `leadsheet webhooks register`: registers this daemon, or any address. */
import { randomUUID } from 'node:crypto'
import { relative } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../../../config/config.ts'
import { EVENT_TYPES, type EventType, webhookCreateSchema } from '../../../contract/webhook.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { registerSelf, type SelfRegistration } from '../../../jobs/events/register-webhook.ts'
import { registrationFile } from '../../../jobs/events/webhook-registration.ts'
import type { Source } from '../../../upstream/source.ts'
import type { WireWebhookAttempt } from '../../../upstream/webhooks/registered-webhooks.ts'
import { addExamples } from '../../command.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import {
  ASK_AGAIN,
  attemptText,
  eventsText,
  isDaemonAlive,
  otherAtAddress,
  otherText,
  ownWebhook,
  requireReceiverUrl,
  unlessUnoffered,
  webhookState,
  whereToLook,
  withHint,
} from './own-webhook.ts'
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

const LOOPBACK_HINT = `A reference service on this machine takes such an address with ${shellCommand('service run --webhooks-to-loopback')}; any other needs a web.public_url with https:// that it can reach.`
const ADDRESS_HINT = `Give an address that the upstream takes: with https://, and public unless ${shellCommand('service run --webhooks-to-loopback')} runs it.`

export function defineRegister(parent: Command, terminal: Terminal): void {
  const register = parent
    .command('register')
    .description('register this daemon or another address for events')
    .argument(
      '[url]',
      'address that events are POSTed to, http:// or https://; its secret is shown only once',
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
    .action((url: string | undefined, options: RegisterOptions) => runRegister(terminal, url, options))
  addExamples(register, [
    'webhooks register --self',
    'webhooks register https://hooks.example.com/leads --event lead.created --event lead.removed',
  ])
}

async function runRegister(
  terminal: Terminal,
  url: string | undefined,
  options: RegisterOptions,
): Promise<void> {
  if ((url === undefined) === (options.self !== true)) {
    throw new LeadsheetError('usage_invalid', 'either --self or an address is registered', {
      hint: `${shellCommand('webhooks register --self')} is for this daemon.`,
    })
  }
  return url === undefined ? registerThis(terminal, options) : registerUrl(terminal, url, options)
}

async function registerUrl(terminal: Terminal, url: string, options: RegisterOptions): Promise<void> {
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
    throw isRefused(thrown) ? withHint(thrown, ADDRESS_HINT) : thrown
  })
  if (terminal.json) return terminal.printJson('webhooks register', webhook)
  await terminal.printFields({
    Webhook: webhook.id,
    URL: webhook.url,
    Events: eventsText(webhook.events),
    State: webhookState(webhook),
    Secret: webhook.secret,
  })
  terminal.note('Keep the secret: it is not shown again.')
}

async function registerThis(terminal: Terminal, { event: events = EVENT_TYPES }: RegisterOptions) {
  const config = await terminal.config()
  const url = requireReceiverUrl(config)
  await withSource(terminal, async (source) => {
    const own = { ...ownWebhook(config, source), url, events }
    const done = await registerSelf(own, terminal.signal).catch((thrown: unknown) => {
      throw explained(thrown, url)
    })
    const trial = await tryOut(terminal, config, source, done)
    await tell(terminal, config, done, trial)
    await printOthers(terminal, source, done)
    if (typeof trial === 'string' || trial.outcome === 'delivered') return
    terminal.end('partly')
    terminal.note(whereToLook(trial))
  })
}

/** Adds a hint if the upstream's error concerns the address of this installation. */
function explained(thrown: unknown, url: string): unknown {
  if (thrown instanceof LeadsheetError && thrown.code === 'api_unreachable')
    return withHint(thrown, ASK_AGAIN)
  if (!isRefused(thrown)) return thrown
  const made = `${url} is made of web.public_url, and the upstream has to reach it; ${shellCommand('webhooks list')} shows what is registered there.`
  return withHint(thrown, url.startsWith('http:') ? LOOPBACK_HINT : made)
}

async function tryOut(
  terminal: Terminal,
  config: Config,
  source: Source,
  { registration, outcome }: SelfRegistration,
): Promise<Trial> {
  if (outcome === 'already') return `not now; ${shellCommand('webhooks test')} does it`
  if (!(await isDaemonAlive(config))) {
    return `not now, since no daemon runs here: ${shellCommand('run')}, then ${shellCommand('webhooks test')}`
  }
  try {
    return await source.webhooks.test(registration.id, terminal.signal)
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError) || thrown.code !== 'api_not_found') throw thrown
    return 'not possible: the upstream offers no way to test a webhook'
  }
}

async function tell(
  terminal: Terminal,
  config: Config,
  { registration, outcome, leftOver }: SelfRegistration,
  trial: Trial,
): Promise<void> {
  const { id, url, events, registeredAt } = registration
  if (terminal.json) {
    return terminal.printJson('webhooks register', {
      ...{ id, url, events, registered_at: registeredAt, outcome, left_over: leftOver },
      test: typeof trial === 'string' ? null : trial,
    })
  }
  await terminal.printFields({
    Webhook: id,
    URL: url,
    Events: eventsText(events),
    Registered: formatInstant(registeredAt),
    Test: typeof trial === 'string' ? trial : attemptText(trial),
  })
  const file = registrationFile(config.dataDir)
  const words = {
    registered: `Registered. Its secret is in ${relative('', file) || file}, for this user alone.`,
    replaced: 'Registered anew, in the place of the one before.',
    already: 'Registered already, and active.',
  }
  terminal.note(words[outcome])
  if (leftOver !== null) {
    terminal.note(`${leftOver} is not needed any more; the upstream offers no way to remove it from here.`)
  }
}

/**
 * Prints other webhooks with the same address. Such a webhook may be left over from the machine whose backup
 * was restored here.
 */
async function printOthers(terminal: Terminal, source: Source, { registration }: SelfRegistration) {
  const webhooks = await unlessUnoffered(source.webhooks.list(terminal.signal))
  const other = webhooks && otherAtAddress(webhooks, registration)
  if (other) terminal.note(`${otherText(other)}: ${shellCommand(`webhooks remove ${other.id}`)}`)
}

function isRefused(thrown: unknown): thrown is LeadsheetError {
  return thrown instanceof LeadsheetError && thrown.code === 'api_rejected'
}

function collectEvent(value: string, before: readonly EventType[] = []): readonly EventType[] {
  const type = EVENT_TYPES.find((known) => known === value)
  if (type === undefined) throw new InvalidArgumentError(`Expected one of ${EVENT_TYPES.join(', ')}.`)
  return [...before, type]
}
