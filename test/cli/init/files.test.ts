import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeNewFiles } from '../../../src/cli/init/files.ts'
import { folderWith } from '../../support/folder.ts'

const modeOf = (path: string): number => statSync(path).mode & 0o777

function filesIn(folder: string) {
  return [
    { path: join(folder, 'etc/secrets/key'), text: 'k3y\n', isSecret: true },
    { path: join(folder, 'etc/leadsheet.yaml'), text: 'new\n', isSecret: false },
  ]
}

test('secrets and their folder are for their owner alone', () => {
  const folder = folderWith()
  expect(writeNewFiles(filesIn(folder), { keepsOld: false, check: () => 'read' })).toBe('read')
  expect(modeOf(join(folder, 'etc/secrets'))).toBe(0o700)
  expect(modeOf(join(folder, 'etc/secrets/key'))).toBe(0o600)
  expect(readFileSync(join(folder, 'etc/leadsheet.yaml'), 'utf8')).toBe('new\n')
  expect(readdirSync(join(folder, 'etc'))).toEqual(['leadsheet.yaml', 'secrets'])
})

test('nothing that is there is touched', () => {
  const folder = folderWith({ 'etc/leadsheet.yaml': 'old\n' })
  expect(() => writeNewFiles(filesIn(folder), { keepsOld: false, check: () => {} })).toThrow(
    /etc\/leadsheet\.yaml is there already/,
  )
  expect(existsSync(join(folder, 'etc/secrets'))).toBe(false)
  expect(readFileSync(join(folder, 'etc/leadsheet.yaml'), 'utf8')).toBe('old\n')
})

test('what was there is put aside, each time under a name of its own', () => {
  const folder = folderWith({ 'etc/leadsheet.yaml': 'first\n' })
  for (let round = 0; round < 2; round++) writeNewFiles(filesIn(folder), { keepsOld: true, check: () => {} })
  expect(readFileSync(join(folder, 'etc/leadsheet.yaml.bak'), 'utf8')).toBe('first\n')
  expect(readFileSync(join(folder, 'etc/leadsheet.yaml.bak2'), 'utf8')).toBe('new\n')
  expect(modeOf(join(folder, 'etc/secrets/key.bak'))).toBe(0o600)
})

test('what cannot be read again leaves everything as it was', () => {
  const folder = folderWith({ 'etc/leadsheet.yaml': 'old\n' })
  const check = (): never => {
    expect(existsSync(join(folder, 'etc/secrets/key'))).toBe(true)
    throw new Error('it cannot be read')
  }
  expect(() => writeNewFiles(filesIn(folder), { keepsOld: true, check })).toThrow('it cannot be read')
  expect(readdirSync(join(folder, 'etc'))).toEqual(['leadsheet.yaml'])
  expect(readFileSync(join(folder, 'etc/leadsheet.yaml'), 'utf8')).toBe('old\n')
})

test('a file that cannot be written takes those before it along', () => {
  const folder = folderWith({ taken: 'a file in the place of a folder' })
  const blocked = { path: join(folder, 'taken/leadsheet.yaml'), text: 'new\n', isSecret: false }
  const [secret] = filesIn(folder)
  mkdirSync(join(folder, 'etc'))
  expect(() => writeNewFiles(secret ? [secret, blocked] : [], { keepsOld: false, check: () => {} })).toThrow(
    /taken\/leadsheet\.yaml cannot be written/,
  )
  expect(readdirSync(join(folder, 'etc'))).toEqual([])
})
