import { expect, test } from 'vitest'
import { nearest } from '../../src/config/setting-path.ts'

const NAMES = ['page_size', 'max_wait_seconds', 'url', 'key', 'key_file']

test.each([
  ['page_sise', 'page_size'],
  ['pagesize', 'page_size'],
  ['KEY', 'key'],
  ['keyfile', 'key_file'],
  ['max_wait_second', 'max_wait_seconds'],
  ['ur', 'url'],
  ['ulr', 'url'],
  ['token', null],
])('%s was meant to be %s', (name, meant) => {
  expect(nearest(name, NAMES)).toBe(meant)
})
