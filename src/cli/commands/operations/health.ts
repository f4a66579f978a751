/**
 * `leadsheet health`: says in one line whether the daemon is alive, for a container's health check. Only the
 * last heartbeat counts, because old data is no reason to restart a daemon.
 */
import type { Command } from 'commander'
import { storePlaceOf } from '../../../app/installation.ts'
import { type DaemonState, daemonStateOf } from '../../../checks/check.ts'
import { LeadsheetError } from '../../../errors.ts'
import { type LastHeartbeat, readLastHeartbeat } from '../../../store/schedule/uptime.ts'
import { formatSpan } from '../../../time.ts'
import { addExamples, showing } from '../../command.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

export function defineHealth(command: Command, terminal: Terminal): void {
  command.action(showing(terminal, findHealth))
  addExamples(command, ['health', 'health --json'])
}

async function findHealth(terminal: Terminal): Promise<Result> {
  const { isHealthy, found, lastHeartbeat } = await lookAtDaemon(terminal)
  if (!isHealthy) terminal.end('failed')
  return {
    data: { healthy: isHealthy, found, last_heartbeat: lastHeartbeat },
    text: [`${isHealthy ? 'healthy' : 'unhealthy'}: ${found}`],
  }
}

/**
 * Reads the last heartbeat. Settings that do not say where the data are count as unhealthy, because the only
 * answers of a health check are healthy and unhealthy.
 */
async function lookAtDaemon(terminal: Terminal) {
  try {
    const heartbeat = await readLastHeartbeat(storePlaceOf(await terminal.dataConfig()))
    const daemonState = daemonStateOf(heartbeat, new Date())
    return {
      isHealthy: daemonState === 'alive',
      found: tell(daemonState, heartbeat),
      lastHeartbeat: heartbeat?.last_heartbeat_at ?? null,
    }
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    return { isHealthy: false, found: thrown.message.replaceAll(/\s*\n\s*/g, ' '), lastHeartbeat: null }
  }
}

function tell(daemonState: DaemonState, heartbeat: LastHeartbeat | undefined): string {
  if (heartbeat === undefined) return 'no daemon has run on this data'
  const since = formatSpan(Date.now() - Date.parse(heartbeat.last_heartbeat_at))
  if (daemonState === 'alive') return `the last heartbeat of the daemon was ${since} ago`
  return daemonState === 'stopped'
    ? `the daemon was stopped ${since} ago`
    : `the daemon has sent no heartbeat for ${since}`
}
