/** The generated pages agree with the code. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatePages } from '../../build/docs/pages.ts'

const pages = await generatePages()

test.each([...pages])('%s is generated anew by `npm run docs`', (path, text) => {
  expect(readFileSync(path, 'utf8'), 'run `npm run docs`').toBe(text)
})

test('no page says that it is generated and is not', () => {
  const marked = globSync('docs/reference/*.md').filter((path) =>
    readFileSync(path, 'utf8').includes('<!-- This page is generated from the code.'),
  )
  expect(marked.filter((path) => !pages.has(path))).toEqual([])
})
