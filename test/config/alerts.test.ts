/**
 * The receivers of alerts: how they are set, which mistakes are found, and that addresses with secrets are
 * not shown.
 */
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { effectiveSettings, secretsOf } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

const HOOK = 'https://hooks.example.com/services/T0/B0/s3cr3t'
const PING = 'https://hc-ping.com/1f2e3d4c'

function load(yaml: string, env: Environment = {}, files: Readonly<Record<string, string>> = {}) {
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml, ...files }), env })
}

describe('operators', () => {
  test('are nobody unless they are set', () => {
    expect(load('').alerts).toEqual({ recipients: [], webhook: null, heartbeat: null })
  })

  test('are set by variables alone, for containers', () => {
    const { alerts } = load('', {
      LEADSHEET_ALERT_RECIPIENTS: 'ops@example.com, oncall@example.com',
      LEADSHEET_ALERT_WEBHOOK_URL: HOOK,
      LEADSHEET_ALERT_HEARTBEAT_URL: PING,
    })
    expect(alerts.recipients).toEqual(['ops@example.com', 'oncall@example.com'])
    expect([alerts.webhook?.url.reveal(), alerts.webhook?.format]).toEqual([HOOK, 'json'])
    expect(alerts.heartbeat?.url.reveal()).toBe(PING)
  })

  test('have their addresses read from files', () => {
    const yaml = 'alerts: { webhook: { url_file: hook, format: slack }, heartbeat: { url_file: ping } }'
    const { alerts } = load(yaml, {}, { hook: `${HOOK}\n`, ping: `${PING}\n` })
    expect([alerts.webhook?.url.reveal(), alerts.heartbeat?.url.reveal()]).toEqual([HOOK, PING])
  })

  test('have addresses that are in no output, and that the log takes out', () => {
    const config = load(`alerts: { webhook: { url: "${HOOK}" }, heartbeat: { url: "${PING}" } }`)
    const shown = JSON.stringify([config, effectiveSettings(config)]) + inspect(config, { depth: 9 })
    expect(shown).not.toMatch(/s3cr3t|1f2e3d4c/)
    expect(secretsOf(config)).toEqual(expect.arrayContaining([HOOK, PING]))
  })

  test.each(['http://127.0.0.1:8000/x', 'http://localhost/x', 'http://[::1]:9/x'])(
    'can be told at %s, which is this machine',
    (url) => expect(load(`alerts: { webhook: { url: "${url}" } }`).alerts.webhook).not.toBeNull(),
  )
})
