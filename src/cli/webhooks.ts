/** `leadsheet webhooks`: asking the service to POST events to an address. */
import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import { EVENT_TYPES, type EventType, webhookCreateSchema } from '../contract/webhook.ts'
import { LeadsheetError } from '../errors.ts'
import { addExamples } from './command.ts'
import type { Terminal } from './terminal.ts'
import { withSource } from './upstream.ts'

interface RegisterOptions {
  readonly event?: readonly EventType[]
  readonly description?: string
}

export function defineWebhooks(command: Command, terminal: Terminal): void {
  const register = command
    .command('register')
    .description('register an address; the secret that signs deliveries is shown this once')
    .argument('<url>', 'where events are POSTed, http:// or https://')
    .option(
      '--event <type>',
      `only this kind of event; may be given several times: ${EVENT_TYPES.join(', ')}`,
      collectEvent,
    )
    .option('--description <text>', 'what it is for')
    .action((url: string, options: RegisterOptions) => registerWebhook(terminal, url, options))
  addExamples(register, [
    'webhooks register https://hooks.example.com/leads',
    'webhooks register https://hooks.example.com/leads --event lead.created --event lead.removed',
  ])
}

async function registerWebhook(terminal: Terminal, url: string, options: RegisterOptions): Promise<void> {
  const { event: events = EVENT_TYPES, description } = options
  const body = webhookCreateSchema.safeParse({ url, events, description })
  if (!body.success) {
    throw new LeadsheetError('usage_invalid', `${url} is not an address that events can be sent to`, {
      hint: 'Give a URL with http:// or https://.',
    })
  }
  const webhook = await withSource(terminal, (source) =>
    source.registerWebhook(body.data, randomUUID(), terminal.signal),
  )
  if (terminal.json) {
    terminal.printJson(webhook)
    return
  }
  await terminal.printFields({
    Webhook: webhook.id,
    URL: webhook.url,
    Events: webhook.events.join(', '),
    Status: webhook.status,
    Secret: webhook.secret,
  })
  terminal.note('Keep the secret: it is not shown again.')
}

function collectEvent(value: string, before: readonly EventType[] = []): readonly EventType[] {
  const type = EVENT_TYPES.find((known) => known === value)
  if (type === undefined) throw new InvalidArgumentError(`Expected one of ${EVENT_TYPES.join(', ')}.`)
  return [...before, type]
}
