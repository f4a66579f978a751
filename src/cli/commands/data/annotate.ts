/** `leadsheet annotate`: stores, lists and removes notes about days, for example that a campaign began. */
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { openData, openDataToRead } from '../../../app/installation.ts'
import type { Annotation } from '../../../domain/insight.ts'
import { inSnakeCase } from '../../../domain/names.ts'
import { LeadsheetError, shellCommand } from '../../../errors.ts'
import { annotate, removeAnnotation } from '../../../jobs/annotations.ts'
import { listAnnotations } from '../../../store/insight/annotation.ts'
import { addExamples, showing, wholeNumber } from '../../command.ts'
import { formatInstant, table } from '../../terminal/table.ts'
import type { Result, Terminal } from '../../terminal/terminal.ts'

export function defineAnnotate(command: Command, terminal: Terminal): void {
  command
    .argument(
      '[days]',
      'a day such as 2026-11-13, or 2026-11-13..2026-11-15; without a day, all notes are listed',
    )
    .argument('[text]', 'what is known about these days, at most 120 characters')
    .option(
      '--pipeline <id>',
      'the note is only about this pipeline; it also counts for the number of all leads',
    )
    .option('--only-mark', 'only mark the days: reports still judge them and learn from them')
    .option('--remove <number>', 'remove the annotation with this number', wholeNumber(1, 1e15))
    .action(showing(terminal, runAnnotate))
  addExamples(command, [
    'annotate 2026-11-13 campaign',
    'annotate 2026-11-13..2026-11-15 "trade fair in Berlin" --pipeline pl_01',
    'annotate',
    'annotate --remove 3',
  ])
}

async function runAnnotate(
  terminal: Terminal,
  days: string | undefined,
  text: string | undefined,
  { pipeline, onlyMark, remove }: { pipeline?: string; onlyMark?: boolean; remove?: number },
): Promise<Result> {
  const isAsked = pipeline !== undefined || onlyMark === true
  if (days === undefined && remove === undefined && !isAsked) {
    await using store = await openDataToRead(await terminal.dataConfig())
    return listResult(await listAnnotations(store.db))
  }
  if ((days === undefined) === (remove === undefined) || (remove !== undefined && isAsked)) {
    throw new LeadsheetError('usage_invalid', 'annotate: expected a day with a text, or --remove alone', {
      hint: `Write ${shellCommand('annotate 2026-11-13 campaign')}.`,
    })
  }
  const config = await terminal.config()
  await using store = await openData(config)
  const given = {
    days: days ?? '',
    text: text ?? '',
    pipelineId: pipeline ?? null,
    isLeftOut: onlyMark !== true,
    writtenBy: userInfo().username,
  }
  const changed =
    remove === undefined ? await annotate(store, given, new Date()) : await removeAnnotation(store, remove)
  const about = `${daysOf(changed)}: ${changed.text}`
  const effect = remove === undefined ? 'are left out of what is normal' : 'count again'
  return {
    data: [annotationJson(changed)],
    text: [remove === undefined ? `${about} (annotation ${changed.id})` : `removed: ${about}`],
    notes: changed.isLeftOut ? [`From the next report on, these days ${effect}.`] : [],
  }
}

function listResult(all: readonly Annotation[]): Result {
  const none = `No day is annotated. ${shellCommand('annotate 2026-11-13 campaign')} notes one.`
  return {
    data: all.map(annotationJson),
    text: [
      table(all, [
        { title: 'NUMBER', value: ({ id }) => id },
        { title: 'DAYS', value: daysOf },
        { title: 'TEXT', value: ({ text }) => text },
        { title: 'PIPELINE', value: ({ pipelineId }) => pipelineId ?? 'all' },
        { title: 'EXPECTATIONS', value: ({ isLeftOut }) => (isLeftOut ? 'left out' : 'only marked') },
        { title: 'WRITTEN', value: ({ writtenAt }) => formatInstant(writtenAt) },
        { title: 'BY', value: ({ writtenBy }) => writtenBy },
      ]),
    ],
    notes: all.length === 0 ? [none] : [],
  }
}

function daysOf({ firstDay, lastDay }: Annotation): string {
  return firstDay === lastDay ? firstDay : `${firstDay}..${lastDay}`
}

function annotationJson({ isLeftOut, ...annotation }: Annotation) {
  return { ...inSnakeCase(annotation), left_out: isLeftOut }
}
