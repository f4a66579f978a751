import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changedSettings } from '../../src/config/describe.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

const SETTINGS = `
api: { key: the-key-of-before }
recipients: [ana@example.com]
reports: [{ name: daily, filter: { source: [web] } }]
`

function read(settings: string) {
  const cwd = folderWith({ 'leadsheet.yaml': settings })
  // All share one folder, because otherwise every path would differ.
  return {
    ...loadConfig({ file: join(cwd, 'leadsheet.yaml'), cwd, env: {} }),
    dataDir: '/data',
    templatesDir: '/t',
  }
}

it.each([
  ['nothing', SETTINGS, []],
  ['a plain setting', `${SETTINGS}log_level: debug`, ['log_level']],
  ['a secret, by its value', SETTINGS.replace('before', 'after'), ['api.key']],
  ['the address of the pages', `${SETTINGS}web: { listen: 127.0.0.1:9090 }`, ['web.listen']],
  [
    'who gets it, as one',
    SETTINGS.replace('[ana@', '[ben@example.com, ana@'),
    ['recipients', 'reports[0].recipients'],
  ],
  ['a filter, as one', SETTINGS.replace('[web]', '[fair]'), ['reports[0].filter', 'reports[0].recipients']],
  ['a profile, as one', SETTINGS.replace('{ key', '{ profile: { name: x }, key'), ['api.profile']],
])('of settings in which %s is another it is told which', (_name, settings, changed) => {
  expect(changedSettings(read(SETTINGS), read(settings))).toEqual(changed)
})
