/** `leadsheet recipients link` and `revoke-links`: the links by which recipients reach their page, by hand. */
import type { Command } from 'commander'
import { LeadsheetError, shellCommand } from '../errors.ts'
import { replaceLinkKey } from '../store/reports/link-key.ts'
import { claimLease, listHeldLeases } from '../store/schedule/lease.ts'
import { addExamples } from './command.ts'
import { openData } from './installation.ts'
import { reportsOf } from './recipient-wishes.ts'
import { subscriptionLinks } from './subscription-links.ts'
import type { Terminal } from './terminal.ts'

export function defineLinks(parent: Command, terminal: Terminal): void {
  const link = parent
    .command('link')
    .description('print the page of a recipient, for them alone')
    .argument('<address>', 'of the recipient')
    .option('--report <name>', 'only of this report (default: all that they get)')
    // The list of recipients has such an option too, and takes it for its own.
    .action((address: string, _: object, called: Command) =>
      printLinks(terminal, address, called.optsWithGlobals<{ report?: string }>().report),
    )
  addExamples(link, ['recipients link dana@example.com', 'recipients link dana@example.com --report daily'])
  const revoke = parent
    .command('revoke-links')
    .description('make every link worthless that was ever sent')
    .option('--yes', 'do it; without this nothing is changed')
    .action(({ yes }: { yes?: boolean }) => revokeLinks(terminal, yes === true))
  addExamples(revoke, ['recipients revoke-links --yes'])
}

/** @throws LeadsheetError config_missing, usage_invalid */
async function printLinks(terminal: Terminal, address: string, report: string | undefined): Promise<void> {
  const config = await terminal.config()
  await using store = await openData(config)
  const linkOf = await subscriptionLinks(config, store)
  if (linkOf === null) {
    throw new LeadsheetError('config_missing', 'web.public_url is not set: recipients have no pages', {
      hint: `Set it, or do it for them: ${shellCommand('recipients unsubscribe ADDRESS')}.`,
    })
  }
  const lines = (await reportsOf(store, config, address, report)).map((name) => ({
    ...{ address, report: name, url: linkOf({ address, report: name }) },
  }))
  if (terminal.json) return terminal.printJson({ data: lines })
  for (const { report: name, url } of lines) terminal.print(`${name}  ${url}`)
  terminal.note('Whoever has such a link can change what they get.')
}

/**
 * Under the lease of the daemon, which signs letters with the key that it began with.
 * @throws LeadsheetError job_busy while the daemon runs
 */
async function revokeLinks(terminal: Terminal, isMeant: boolean): Promise<void> {
  await using store = await openData(await terminal.config())
  if (!isMeant) {
    terminal.note(
      `Links in all mails sent so far would lead nowhere; ${shellCommand('recipients revoke-links --yes')} does it.`,
    )
  } else {
    const now = () => new Date()
    const lease = await claimLease(store, 'daemon', now)
    const worker = (await listHeldLeases(store.db, now())).find(({ name }) => name.startsWith('daemon:'))
    if (worker !== undefined) {
      await lease.release()
      throw new LeadsheetError(
        'job_busy',
        `A daemon is already running: process ${worker.pid} on ${worker.host}`,
        { hint: 'Stop all workers first; they sign letters with the key that they began with.' },
      )
    }
    await replaceLinkKey(store, now())
    await lease.release()
    terminal.note('Links in all mails sent so far lead nowhere from now on; new mails have new ones.')
  }
  if (terminal.json) terminal.printJson({ revoked: isMeant })
}
