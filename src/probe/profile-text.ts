/** Writes a profile as YAML, with the evidence for each value, and what the user must still write. */

import { Document, isMap, isNode, isScalar, type YAMLMap } from 'yaml'
import { shellCommand } from '../errors.ts'
import type { ProfileInput } from '../upstream/profile/profile.ts'
import type { Finding, Gap } from './ask.ts'
import { READ_WORDS } from './candidates.ts'
import { ENDED_AT, FIELDS_WERE, kindLines } from './known-profile.ts'
import type { ProbeResult } from './probe.ts'

/** The probe cannot find webhooks, so the user must look into the upstream's documentation. */
const WEBHOOK_PART = ` Webhooks are not looked for. Where the upstream has them, this tells how; then what changes is here within seconds:
webhook:
  verify: { scheme: standard } # or hmac, stripe, token: as its documentation has it
  id: { header: webhook-id }
  type: type
  time: timestamp
  lead: data.id
  deleted: [ lead.deleted ]`

/**
 * Writes the profile.
 * @param url the probed address, which becomes `api.url`
 * @param today the date of the probe
 */
export function profileText(input: ProfileInput, result: ProbeResult, url: string, today: string): string {
  const document = new Document(input)
  for (const finding of result.findings) comment(document, finding)
  document.commentBefore = [
    ` What ${shellCommand('probe')} found out about ${url} on ${today}. Read it, and fix what is wrong:`,
    ' each line says how sure it is (proved, likely, guessed) and why.',
    ' For leadsheet.yaml:',
    '   api:',
    `     url: ${url}`,
    '     profile: ./<this file>',
    ...todo(result.gaps),
    ...(result.open ? ['', ` ${ENDED_AT}${result.open}. The same command goes on there.`] : []),
  ].join('\n')
  const lead = document.getIn(['mapping', 'lead'])
  if (isMap(lead) && !lead.has('pipeline_id')) {
    const lines = pipelineAdvice(input.endpoints?.leads ?? '.', url)
    lead.comment = lines.map((line) => ` ${line}`).join('\n')
  }
  const kinds = kindLines(result.kinds ?? {}).map((line) => `   ${line}`)
  document.comment = [...fieldsPart(result.proposals), WEBHOOK_PART, '', ` ${FIELDS_WERE}`, ...kinds].join(
    '\n',
  )
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

function fieldsPart(proposals: readonly string[]): string[] {
  if (proposals.length === 0) return []
  const lines = proposals.map((line) => `  ${line}`)
  return [
    ' To have a field as a column, take the # away before `fields:` and before the field:',
    'fields:',
    ...lines,
    '',
  ]
}

/**
 * Returns a sentence for a profile that reads no pipeline, and the line that names it.
 * @param leads the path of the list, after which the pipeline is called
 */
export function pipelineAdvice(leads: string, url: string): [sentence: string, line: string] {
  return [
    'The leads name no pipeline. Choose its name before the first sync, because both names stay in reports later:',
    `pipeline_id: { default: ${listName(leads, url)} }`,
  ]
}

/** Returns what the list is called in its address: `Contacts` for `/v2/contacts/search`. */
function listName(leads: string, url: string): string {
  const { pathname } = new URL(leads === '.' ? url : leads, url)
  const words = pathname.split('/').map((word) => word.replace(/\.\w+$/, ''))
  const name = words.findLast((word) => /^[A-Za-z][A-Za-z_-]{2,}$/.test(word) && !READ_WORDS.includes(word))
  return name === undefined ? 'Leads' : name.charAt(0).toUpperCase() + name.slice(1)
}

function todo(gaps: readonly Gap[]): string[] {
  if (gaps.length === 0) return []
  const lines = gaps.flatMap(({ place, problem, remedy }) => [
    `   ${place}: ${problem}`,
    ...(remedy === null ? [] : [`     by hand: ${remedy}`]),
  ])
  return ['', ' Not found out:', ...lines]
}

/** Writes the evidence of a finding as a comment beside a single value or above a group. */
function comment(document: Document, { place, confidence, evidence }: Finding): void {
  const path = place.split('.')
  const node = document.getIn(path, true)
  const text = ` ${confidence}: ${evidence}`.replace(/\s*\n\s*/g, ' ')
  if (isScalar(node)) {
    node.comment = text
    return
  }
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const key = isMap(parent) ? keyOf(parent, path.at(-1) ?? '') : undefined
  if (isNode(key)) key.commentBefore = key.commentBefore ? `${key.commentBefore}\n${text}` : text
}

function keyOf(map: YAMLMap, name: string): unknown {
  return map.items.find(({ key }) => isScalar(key) && key.value === name)?.key
}
