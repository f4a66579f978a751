/** `leadsheet webhooks`: lists and manages the webhooks at the upstream. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { removeSelf, rotateSelf } from '../../../jobs/events/register-webhook.ts'
import { readState, registrationFile } from '../../../jobs/events/webhook-registration.ts'
import type { Source } from '../../../upstream/source.ts'
import type { WireWebhook } from '../../../upstream/webhooks/registered-webhooks.ts'
import { addExamples } from '../../command.ts'
import { confirm } from '../../terminal/prompter.ts'
import { formatInstant } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import {
  ASK_AGAIN,
  ATTEMPT_COLUMNS,
  attemptText,
  defineRegister,
  eventsText,
  isDaemonAlive,
  isOwnWebhook,
  ownWebhook,
  unlessUnoffered,
  webhookIdOf,
  webhookState,
  whereToLook,
  withHint,
} from './webhook-register.ts'
import { withSource } from './with-source.ts'

const ATTEMPTS_SHOWN = 20
const ID = "id of the webhook (default: this installation's)"

export function defineWebhooks(command: Command, terminal: Terminal): void {
  defineRegister(command, terminal)
  const list = command
    .command('list')
    .description('list the webhooks at the upstream and mark the one of this installation')
    .action(() => withSource(terminal, (source) => listWebhooks(terminal, source), 'reads'))
  addExamples(list, ['webhooks list', 'webhooks list --json'])
  const show = command
    .command('show')
    .description('show a webhook and its recent deliveries')
    .argument('[id]', ID)
    .action((id?: string) => withSource(terminal, (source) => showWebhook(terminal, source, id), 'reads'))
  addExamples(show, ['webhooks show', 'webhooks show wh_0123456789abcdef --json'])
  const test = command
    .command('test')
    .description('send a test event to a webhook, and say whether it arrived')
    .argument('[id]', ID)
    .action((id?: string) => withSource(terminal, (source) => testWebhook(terminal, source, id)))
  addExamples(test, ['webhooks test', 'webhooks test wh_0123456789abcdef'])
  const rotate = command
    .command('rotate')
    .description(
      "rotate the secret of a webhook; store it if the webhook is this installation's, else print it once",
    )
    .argument('[id]', ID)
    .action((id?: string) => withSource(terminal, (source) => rotateWebhook(terminal, source, id)))
  addExamples(rotate, ['webhooks rotate', 'webhooks rotate wh_0123456789abcdef --json'])
  const enable = command
    .command('enable')
    .description('enable a webhook that the upstream has disabled')
    .argument('[id]', ID)
    .action((id?: string) => withSource(terminal, (source) => enableWebhook(terminal, source, id)))
  addExamples(enable, ['webhooks enable', 'webhooks enable wh_0123456789abcdef'])
  const remove = command
    .command('remove')
    .description('remove a webhook')
    .argument('[id]', ID)
    .option('--yes', 'do not ask for confirmation')
    .action((id: string | undefined, { yes }: { yes?: boolean }) =>
      withSource(terminal, (source) => removeWebhook(terminal, source, id, yes === true)),
    )
  addExamples(remove, ['webhooks remove', 'webhooks remove wh_0123456789abcdef --yes'])
}

async function listWebhooks(terminal: Terminal, source: Source): Promise<void> {
  const config = await terminal.config()
  const own = readState(registrationFile(config.dataDir)).registration
  const webhooks = await source.webhooks.list(terminal.signal)
  if (terminal.json) {
    return terminal.printJson(
      'webhooks list',
      webhooks.map((each) => ({ ...each, is_own: each.id === own?.id })),
    )
  }
  if (webhooks.length === 0) terminal.note('No webhooks are registered.')
  else {
    await terminal.printTable<WireWebhook>(
      [
        { title: 'ID', value: ({ id }) => id, isWhole: true },
        { title: 'STATE', value: webhookState },
        { title: 'URL', value: ({ url }) => url },
        { title: 'EVENTS', value: ({ events }) => eventsText(events) },
        { title: 'CREATED', value: ({ created_at }) => formatInstant(created_at), isWhole: true },
        { title: 'OURS', value: ({ id }) => (id === own?.id ? 'yes' : null) },
        { title: 'DESCRIPTION', value: ({ description }) => description, isOptional: true },
      ],
      webhooks,
    )
  }
  if (own !== null && !webhooks.some(({ id }) => id === own.id)) {
    terminal.note(
      `${own.id}, which is ours, is not known there any more: ${shellCommand('webhooks register --self')}`,
    )
  }
}

async function showWebhook(terminal: Terminal, source: Source, named: string | undefined): Promise<void> {
  const id = webhookIdOf(await terminal.config(), named)
  const webhook = await source.webhooks.show(id, terminal.signal)
  const attempts = await unlessUnoffered(source.webhooks.listAttempts(id, terminal.signal))
  if (terminal.json) return terminal.printJson('webhooks show', { ...webhook, attempts })
  await terminal.printFields({
    Webhook: webhook.id,
    URL: webhook.url,
    Events: eventsText(webhook.events),
    State: webhookState(webhook),
    Created: formatInstant(webhook.created_at),
    Description: webhook.description,
  })
  if (attempts === null) return terminal.note('The upstream does not tell what was sent to it.')
  if (attempts.length === 0) return terminal.note('Nothing was sent to it yet.')
  terminal.print('')
  await terminal.printTable(ATTEMPT_COLUMNS, attempts.slice(0, ATTEMPTS_SHOWN))
}

async function testWebhook(terminal: Terminal, source: Source, named: string | undefined): Promise<void> {
  const config = await terminal.config()
  const id = webhookIdOf(config, named)
  const attempt = await source.webhooks.test(id, terminal.signal)
  if (terminal.json) terminal.printJson('webhooks test', attempt)
  else terminal.print(`${id}  ${attemptText(attempt)}`)
  const isOwn = isOwnWebhook(config, id)
  const webhook = await unlessUnoffered(source.webhooks.show(id, terminal.signal))
  const isDisabled = webhook?.status === 'disabled'
  if (isDisabled) {
    const enable = shellCommand(`webhooks enable${isOwn ? '' : ` ${id}`}`)
    terminal.note(`It is ${webhookState(webhook)}. Nothing else is sent there until ${enable}.`)
  }
  if (attempt.outcome !== 'delivered' && isOwn) {
    const isAlive = await isDaemonAlive(config)
    const nobody = `No daemon runs here that could have taken it: ${shellCommand('run')}.`
    terminal.note(isAlive ? whereToLook(attempt) : nobody)
  }
  if (attempt.outcome !== 'delivered' || isDisabled) terminal.end('partly')
}

async function rotateWebhook(terminal: Terminal, source: Source, named: string | undefined): Promise<void> {
  const config = await terminal.config()
  const id = webhookIdOf(config, named)
  if (!isOwnWebhook(config, id)) {
    const webhook = await source.webhooks.rotate(id, randomUUID(), terminal.signal)
    if (terminal.json) return terminal.printJson('webhooks rotate', webhook)
    await terminal.printFields({ Webhook: id, URL: webhook.url, Secret: webhook.secret })
    return terminal.note('Keep the secret: it is not shown again.')
  }
  const { url, oldSecretUntil } = await rotateSelf(ownWebhook(config, source), terminal.signal).catch(
    (thrown: unknown) => {
      const isLost = thrown instanceof LeadsheetError && thrown.code === 'api_unreachable'
      throw isLost ? withHint(thrown, ASK_AGAIN) : thrown
    },
  )
  if (terminal.json)
    return terminal.printJson('webhooks rotate', { id, url, old_secret_until: oldSecretUntil })
  terminal.print(`${id}  has a new secret; the one before is accepted until ${formatInstant(oldSecretUntil)}`)
}

async function enableWebhook(terminal: Terminal, source: Source, named: string | undefined): Promise<void> {
  const id = webhookIdOf(await terminal.config(), named)
  const before = await unlessUnoffered(source.webhooks.show(id, terminal.signal))
  const webhook = await source.webhooks.enable(id, randomUUID(), terminal.signal)
  if (terminal.json) return terminal.printJson('webhooks enable', webhook)
  terminal.print(`${id}  ${webhookState(webhook)}`)
  if (before?.status === 'active') return terminal.note('It was not disabled.')
  terminal.note('What happened while it was disabled is not sent; the next sync brings it.')
}

async function removeWebhook(
  terminal: Terminal,
  source: Source,
  named: string | undefined,
  isYes: boolean,
): Promise<void> {
  const config = await terminal.config()
  const id = webhookIdOf(config, named)
  const isOwn = isOwnWebhook(config, id)
  const question = isOwn
    ? `${id} is ours: without it changes come with each sync alone.`
    : `${id} will be told of nothing any more.`
  if (!(await confirm(terminal, question, isYes))) return terminal.note('Nothing was done.')
  const outcome = isOwn
    ? (await removeSelf(ownWebhook(config, source), terminal.signal)).outcome
    : await removeOther(source, id, terminal.signal)
  if (terminal.json) return terminal.printJson('webhooks remove', { id, outcome })
  const words = {
    removed: 'removed',
    not_found: 'was not there any more',
    left: 'is forgotten here; the upstream offers no way to remove it from here, so do it in its own interface',
  }
  terminal.print(`${id}  ${words[outcome]}`)
}

/** @throws LeadsheetError api_not_found if the upstream has no such webhook */
async function removeOther(source: Source, id: string, signal: AbortSignal): Promise<'removed'> {
  if (await source.webhooks.remove(id, signal)) return 'removed'
  throw new LeadsheetError('api_not_found', `The upstream knows no webhook ${id}`, {
    hint: `${shellCommand('webhooks list')} shows those that there are.`,
  })
}
