/** `leadsheet webhooks`: registers, lists and removes webhooks at the upstream. */
import type { Command } from 'commander'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { removeSelf } from '../../../jobs/events/register-webhook.ts'
import { readRegistration, registrationFile } from '../../../jobs/events/webhook-registration.ts'
import type { Source } from '../../../upstream/source.ts'
import { addExamples } from '../../command.ts'
import { formatInstant, table } from '../../terminal/table.ts'
import { type Result, requireYes, type Terminal } from '../../terminal/terminal.ts'
import { defineRegister, eventsText, ownWebhook, webhookIdOf, webhookState } from './webhook-register.ts'
import { withSource } from './with-source.ts'

const ID = "id of the webhook (default: this installation's)"

export function defineWebhooks(command: Command, terminal: Terminal): void {
  defineRegister(command, terminal)
  const list = command
    .command('list')
    .description('list the webhooks at the upstream and mark the one of this installation')
    .action(async () =>
      terminal.show(await withSource(terminal, (source) => listWebhooks(terminal, source), 'reads')),
    )
  addExamples(list, ['webhooks list', 'webhooks list --json'])
  const remove = command
    .command('remove')
    .description('remove a webhook')
    .argument('[id]', ID)
    .option('--yes', 'confirm it; without it nothing is removed')
    .action(async (id: string | undefined, { yes }: { yes?: boolean }) =>
      terminal.show(
        await withSource(terminal, (source) => removeWebhook(terminal, source, id, yes === true)),
      ),
    )
  addExamples(remove, ['webhooks remove --yes', 'webhooks remove wh_0123456789abcdef --yes'])
}

async function listWebhooks(terminal: Terminal, source: Source): Promise<Result> {
  const config = await terminal.config()
  const own = readRegistration(registrationFile(config.dataDir))
  const webhooks = await source.webhooks.list(terminal.signal)
  const isUnknown = own !== null && !webhooks.some(({ id }) => id === own.id)
  const again = shellCommand('webhooks register --self')
  return {
    data: webhooks.map((each) => ({ ...each, is_own: each.id === own?.id })),
    text: [
      table(webhooks, [
        { title: 'ID', value: ({ id }) => id },
        { title: 'STATE', value: webhookState },
        { title: 'URL', value: ({ url }) => url },
        { title: 'EVENTS', value: ({ events }) => eventsText(events) },
        { title: 'CREATED', value: ({ created_at }) => formatInstant(created_at) },
        { title: 'OURS', value: ({ id }) => (id === own?.id ? 'yes' : null) },
        { title: 'DESCRIPTION', value: ({ description }) => description },
      ]),
    ],
    notes: [
      ...(webhooks.length === 0 ? ['No webhooks are registered.'] : []),
      ...(isUnknown ? [`${own.id}, which is ours, is not known there any more: ${again}`] : []),
    ],
  }
}

const REMOVED_WORDS = {
  removed: 'removed',
  not_found: 'was not there any more',
  left: 'is forgotten here; the upstream offers no way to remove it from here, so do it in its own interface',
} as const

async function removeWebhook(
  terminal: Terminal,
  source: Source,
  named: string | undefined,
  isYes: boolean,
): Promise<Result> {
  const config = await terminal.config()
  const id = webhookIdOf(config, named)
  const isOwn = readRegistration(registrationFile(config.dataDir))?.id === id
  const question = isOwn
    ? `${id} is ours: without it changes come with each sync alone.`
    : `${id} will be told of nothing any more.`
  requireYes(terminal, question, isYes)
  const outcome = isOwn
    ? (await removeSelf(ownWebhook(config, source), terminal.signal)).outcome
    : await removeOther(source, id, terminal.signal)
  return { data: { id, outcome }, text: [`${id}  ${REMOVED_WORDS[outcome]}`] }
}

/** @throws LeadsheetError api_not_found if the upstream has no such webhook */
async function removeOther(source: Source, id: string, signal: AbortSignal): Promise<'removed'> {
  if (await source.webhooks.remove(id, signal)) return 'removed'
  throw new LeadsheetError('api_not_found', `The upstream knows no webhook ${id}`, {
    hint: `${shellCommand('webhooks list')} shows those that there are.`,
  })
}
