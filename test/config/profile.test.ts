import { expect, test } from 'vitest'
import { effectiveSettings } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

const load = (files: Record<string, string>, env: Environment = {}, file?: string) =>
  loadConfig({ cwd: folderWith(files), env, file })

test('a profile of its own file is found beside the settings', () => {
  const files = { 'etc/leadsheet.yaml': 'api: { profile: mine.yaml }', 'etc/mine.yaml': 'name: mine' }
  expect(load(files, {}, 'etc/leadsheet.yaml').api.profile).toMatchObject({
    data: { name: 'mine' },
    origin: 'etc/mine.yaml',
    problem: null,
  })
})

test('the environment names another file', () => {
  const files = { 'leadsheet.yaml': 'api: { profile: mine.yaml }', 'other.yaml': 'name: other' }
  const config = load(files, { LEADSHEET_API_PROFILE: 'other.yaml' })
  expect(config.api.profile).toMatchObject({ data: { name: 'other' }, origin: 'other.yaml', problem: null })
  expect(effectiveSettings(config).find(({ setting }) => setting === 'api.profile')?.value).toBe('other.yaml')
})

test.each([
  ['is not there', {}, 'there is no such file'],
  ['is no YAML', { 'p.yaml': 'a: [' }, 'is not valid YAML'],
  ['is empty', { 'p.yaml': '' }, 'is empty'],
])('a profile that %s is told when it is needed: the probe may be about to write it', (_, files, problem) => {
  const { profile } = load({ 'leadsheet.yaml': 'api:\n  profile: p.yaml', ...files }).api
  expect(profile?.problem).toContain(problem)
})
