/** The unit for systemd: the files that it names exist, and systemd accepts it. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CONFIG_VARIABLE, VARIABLES } from '../../src/config/environment.ts'
import { unknownArguments } from '../support/docs/commands.ts'
import { readAllText } from '../support/docs/docs.ts'
import { folderWith } from '../support/folder.ts'
import { at, openInstallation, runUntil } from '../support/process/daemon-run.ts'
import { isInPath, isSkipped } from '../support/process/programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const unit = readFileSync(join(ROOT, 'deploy/systemd/leadsheet.service'), 'utf8')
const valuesOf = (name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1] ?? '')

test('the commands and variables of the unit are those that there are', async () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const program = `/opt/leadsheet/node_modules/leadsheet/${bin.leadsheet}`
  const lines = valuesOf('ExecStart').map((line) => line.split(' '))
  expect(lines.map(([, file]) => file)).toEqual([program])
  for (const [, , ...args] of lines) expect(await unknownArguments(args)).toEqual([])
  const variables = valuesOf('Environment').map((setting) => setting.split('=')[0])
  expect([...Object.keys(VARIABLES), CONFIG_VARIABLE]).toEqual(expect.arrayContaining(variables))
})

test('the documentation installs to where the unit looks', () => {
  const pages = readAllText()
  for (const [name, path] of valuesOf('Environment').map((setting) => setting.split('=')))
    expect(pages).toContain(`${name}=${path} `)
  expect(pages).toContain('npm install --prefix /opt/leadsheet ')
  expect(pages).toContain(`useradd --system --home-dir ${valuesOf('WorkingDirectory')[0]} `)
})

test('a daemon that systemd watches sends it heartbeats, as the unit lets it', async () => {
  expect([valuesOf('WatchdogSec'), valuesOf('NotifyAccess')]).toEqual([['240'], ['all']])
  const installation = await openInstallation(['ana@example.com'], 'file:outbox')
  const bin = folderWith({
    'systemd-notify': '#!/bin/sh\necho "$1 $NOTIFY_SOCKET" >>"$(dirname "$0")/told"\n',
  })
  chmodSync(join(bin, 'systemd-notify'), 0o755)
  const path = `${bin}:${process.env['PATH']}`
  const env = { PATH: path, NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '240000000' }
  const told = join(bin, 'told')
  const watched = { ...installation, env: { ...installation.env, ...env } }
  await runUntil(watched, at('06:55'), () => existsSync(told))
  expect(readFileSync(told, 'utf8')).toBe('WATCHDOG=1 /run/notify\n')
})

const MISSING = isInPath('systemd-analyze') ? null : 'apt-get install systemd'

test.skipIf(isSkipped('the unit by systemd itself', MISSING))(
  'systemd-analyze finds every line right, and little left to break out of',
  () => {
    // The unit's path exists only on machines with the program installed.
    const here = unit.replaceAll('/opt/leadsheet/node_modules/.bin/node', process.execPath)
    const file = join(folderWith({ 'leadsheet.service': here }), 'leadsheet.service')
    // It reads the units of the machine too. They may have warnings of their own, like the one here.
    const others = folderWith({ 'network-online.target': '[Unit]\nDescription=x\nNonsense=1\n' })
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${others}:` }
    const findings = (path: string): string[] => {
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8', env })
      return `${stdout}${stderr}`.split('\n').filter((line) => line.includes('leadsheet.service'))
    }
    expect(findings(file)).toEqual([])
    const wrong = folderWith({ 'leadsheet.service': here.replace('ProtectSystem=', 'ProtectSystem=x') })
    expect(findings(join(wrong, 'leadsheet.service'))).toHaveLength(1)
    const rated = spawnSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' })
    const [, exposure = '10'] = /Overall exposure level for .*: ([\d.]+)/.exec(rated.stdout) ?? []
    expect(Number(exposure)).toBeLessThan(2)
  },
)
