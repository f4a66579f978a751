/** `GET /agents/status`. */
import { agentListSchema } from '../../contract/agent.ts'
import { PATHS } from '../../contract/paths.ts'
import { endpoint } from '../http/endpoint.ts'
import { composeAgents } from '../simulation/agent-status.ts'
import { readAgentFacts } from '../store/agent.ts'
import { instantOf } from '../store/instant.ts'
import { listPipelines } from '../store/pipeline.ts'

export const agentsEndpoint = endpoint({
  method: 'GET',
  path: PATHS.agents,
  operationId: 'getAgentsStatus',
  summary: 'What each agent is doing and how it fared in the last 24 hours',
  scope: 'read',
  status: 200,
  answer: agentListSchema,
  problems: ['invalid_request'],
  answerTo: async ({ db, life }) => {
    const asOf = life.until()
    const facts = await readAgentFacts(db, asOf)
    const pipelines = await listPipelines(db, 'active')
    return { data: composeAgents(life.world, facts, pipelines, asOf), as_of: instantOf(asOf) }
  },
})
