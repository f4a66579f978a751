/** `leadsheet agents`: shows what the AI agents are doing now. */
import type { Command } from 'commander'
import type { Agent } from '../../../domain/model.ts'
import { addExamples } from '../../command.ts'
import { type Column, formatInstant, formatShare } from '../../terminal/table.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { keepReadable, withSource } from './with-source.ts'

const COLUMNS: readonly Column<Agent>[] = [
  { title: 'AGENT', value: (agent) => agent.name },
  { title: 'KIND', value: (agent) => agent.kind },
  { title: 'STATUS', value: (agent) => agent.status },
  { title: 'TASK', value: (agent) => agent.taskType?.replaceAll('_', ' ') },
  { title: 'PIPELINE', value: (agent) => agent.taskPipelineId, isOptional: true },
  { title: 'DONE', value: (agent) => formatShare(agent.taskProgress), isOptional: true },
  { title: 'LAST SEEN', value: (agent) => formatInstant(agent.lastSeenAt) },
  { title: 'TASKS 24H', value: (agent) => agent.tasks24h, isOptional: true },
  { title: 'ERRORS 24H', value: (agent) => agent.errors24h },
  { title: 'LAST ERROR', value: (agent) => agent.lastErrorMessage, isOptional: true },
]

export function defineAgents(command: Command, terminal: Terminal): void {
  command.action(async () => {
    await withSource(terminal, async (source) => {
      const records = await source.fetchAgents(terminal.signal)
      if (terminal.json) terminal.printJson('agents', records)
      else await terminal.printTable(COLUMNS, keepReadable(terminal, records.map(source.mapAgent)))
    })
  })
  addExamples(command, ['agents', 'agents --json'])
}
