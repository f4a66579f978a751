/** The key that signs mails: how it is set, which mistakes are found, and that nobody sees it. */
import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { effectiveSettings, secretsOf } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

const EXPECTED = 'dkim.pem  mail.dkim.key_file: expected an RSA private key in PEM, of 1024 bits or more'
const DKIM = 'mail: { dkim: { domain: example.com, selector: s1, key_file: dkim.pem } }'

const PRIVATE = { type: 'pkcs8', format: 'pem' } as const
const PUBLIC = { type: 'spki', format: 'pem' } as const
const { privateKey: RSA, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 1024,
  privateKeyEncoding: PRIVATE,
  publicKeyEncoding: PUBLIC,
})
const short = generateKeyPairSync('rsa', { modulusLength: 768 }).privateKey.export(PRIVATE).toString()
const ed25519 = generateKeyPairSync('ed25519').privateKey.export(PRIVATE).toString()
const { privateKey: locked } = generateKeyPairSync('rsa', {
  modulusLength: 1024,
  privateKeyEncoding: { ...PRIVATE, cipher: 'aes-256-cbc', passphrase: 'hunter22' },
  publicKeyEncoding: PUBLIC,
})

function load(yaml: string, key = RSA, env: Readonly<Record<string, string>> = {}) {
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml, 'dkim.pem': key }), env })
}

function mistakesOf(yaml: string, key = RSA): string[] {
  try {
    load(yaml, key)
  } catch (thrown) {
    return String(thrown)
      .split('\n')
      .slice(1)
      .map((line) => line.trim().replace(/\S+leadsheet-\w+\//g, './'))
  }
  return []
}

describe('the key that signs', () => {
  test('is none unless it is asked for', () => {
    expect(load('mail: { from: ana@example.com }').mail.dkim).toBeNull()
  })

  test('is read from its file', () => {
    expect(load(DKIM).mail.dkim).toMatchObject({ domain: 'example.com', selector: 's1' })
    expect(load(DKIM).mail.dkim?.key.reveal()).toBe(RSA.trim())
  })

  test.each([
    ['the public half', publicKey, `${EXPECTED}; it is none`],
    ['no key', 'hello', `${EXPECTED}; it is none`],
    ['a locked key', locked, `${EXPECTED}; it is locked by a passphrase`],
    ['a key of another kind', ed25519, `${EXPECTED}; it is of the type ed25519`],
    ['a short key', short, `${EXPECTED}; it has 768 bits`],
    ['nothing', '', 'leadsheet.yaml:1:62  mail.dkim.key_file: ./dkim.pem is empty'],
  ])('that is %s is named as a mistake, and not shown', (_what, key, line) => {
    expect(mistakesOf(DKIM, key)).toEqual([expect.stringContaining(line)])
  })

  test('that is not given is asked for', () => {
    expect(mistakesOf('mail: { dkim: { domain: example.com, selector: s1 } }')).toEqual([
      'leadsheet.yaml:1:9  mail.dkim.key: not set, expected an RSA private key in PEM, of 1024 bits or more',
    ])
  })

  test('is not shown by printing, serializing, inspecting or checking the configuration, and kept out of the log', () => {
    const config = load(DKIM)
    const shown = [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      JSON.stringify(effectiveSettings(config)),
    ]
    expect(shown.join()).not.toContain(RSA.split('\n')[1])
    expect(shown.join()).toContain('[redacted]')
    expect(secretsOf(config)).toContain(RSA.trim())
  })

  test('of a domain that is not the sender’s is warned of, for receivers do not count its signature', () => {
    const warningsOf = (from: string) => load(DKIM.replace('{ dkim', `{ from: ${from}, dkim`)).warnings
    expect(warningsOf('Reports <reports@Example.com>')).toEqual([])
    expect(warningsOf('reports@mail.example.com')).toEqual([])
    expect(warningsOf('reports@badexample.com')).toEqual([
      expect.stringContaining(
        'mail.dkim.domain: a signature of example.com proves nothing about a sender at badexample.com',
      ),
    ])
  })
})
