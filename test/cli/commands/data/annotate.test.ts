/** `npx leadsheet annotate` and its rows in the snapshot. */
import { expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import type { RunOptions } from '../../../support/leadsheet.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { folderWithDatabase } from '../../../support/store.ts'
import { startUpstream } from '../../../support/upstream.ts'

async function installation(): Promise<RunOptions> {
  return { cwd: await folderWithDatabase({ 'leadsheet.yaml': '' }), env: {} }
}

it('writes, lists and removes annotations', async () => {
  const options = await installation()
  const none = await runWarm(['annotate'], options)
  expect(none.stderr).toContain('No day is annotated')
  expect(await runWarm(['annotate', '2026-11-13', '  trade\n fair '], options)).toMatchObject({
    stdout: '2026-11-13: trade fair (annotation 1)\n',
    status: 0,
  })
  await runWarm(['annotate', '2026-11-10..2026-11-12', 'new form', '--only-mark'], options)
  const { stdout } = await runWarm(['annotate'], options)
  expect(stdout).toMatch(
    / 2 {2}2026-11-10\.\.2026-11-12 {2}new form +all +only marked .+\n +1 {2}2026-11-13 +trade fair +all +left out/,
  )
  const json = await runWarm(['annotate', '--json'], options)
  expect(JSON.parse(json.stdout).data).toMatchObject([
    { id: 2, first_day: '2026-11-10', last_day: '2026-11-12', left_out: false, pipeline_id: null },
    { id: 1, first_day: '2026-11-13', last_day: '2026-11-13', text: 'trade fair', left_out: true },
  ])
  expect((await runWarm(['annotate', '--remove', '1'], options)).stdout).toBe(
    'removed: 2026-11-13: trade fair\n',
  )
  expect(JSON.parse((await runWarm(['annotate', '--json'], options)).stdout).data).toHaveLength(1)
})

it.each([
  [['2026-02-30', 'x'], /the day: found "2026-02-30", expected a date/],
  [['2026-11-15..2026-11-13', 'x'], /expected the first day first\nhint: Write 2026-11-13\.\.2026-11-15\./],
  [['2026-11-13'], /the text: found nothing, expected 1 to 120 characters/],
  [['2026-11-13', 'x'.repeat(121)], /the text: found 121 characters/],
  [['2026-11-13', 'x', '--pipeline', 'pl_none'], /There is no pipeline "pl_none" in the local copy/],
  [['--remove', '7'], /There is no annotation 7\nhint: .*annotate/],
  [['2026-11-13', 'x', '--remove', '7'], /expected a day with a text, or --remove alone/],
  [['--pipeline', 'pl_none'], /expected a day with a text, or --remove alone/],
] as const)('refuses %j', async (given, said) => {
  const { stderr, status } = await runWarm(['annotate', ...given], await installation())
  expect([status, stderr]).toEqual([2, expect.stringMatching(said)])
})

it('shows the annotations of a pipeline to analysts', async () => {
  await using upstream = await startUpstream(5)
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }
  const options = { cwd: folderWith({ 'data/.keep': '', 'leadsheet.yaml': '' }), env }
  await runWarm(['sync'], options)
  const pipeline = [...upstream.leads.values()][0]?.pipeline_id ?? ''
  await runWarm(['annotate', '2026-11-13', 'campaign', '--pipeline', pipeline], options)
  await runWarm(['snapshot'], options)
  const { stdout } = await runWarm(['query', 'SELECT * FROM annotation', '--json'], options)
  expect(JSON.parse(stdout).data).toMatchObject([
    {
      first_day: '2026-11-13',
      last_day: '2026-11-13',
      text: 'campaign',
      pipeline_id: pipeline,
      is_left_out: 1,
    },
  ])
})
