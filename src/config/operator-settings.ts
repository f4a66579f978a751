/** Who looks after the installation, and how they are told of troubles, as a schema. */
import { z } from 'zod'
import { WEBHOOK_FORMATS } from '../domain/choices.ts'
import { noticeUrlFault } from './rules.ts'
import { address, listOf, path, section, text, wholeNumber } from './value-kinds.ts'

const noticeUrl = text('a URL with https://, or http:// on this machine', noticeUrlFault)

export const alertsSchema = section({
  recipients: listOf(address, 'a list of e-mail addresses').default([]).meta({
    description: 'Who is mailed about troubles: failing syncs, waiting mail, a full disk and so on.',
  }),
  webhook: section({
    url: noticeUrl.optional().meta({
      description:
        'Where the same is posted as JSON, since a mail server that is away cannot tell of itself.',
      examples: ['https://hooks.example.com/leadsheet'],
    }),
    url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
    format: z
      .enum(WEBHOOK_FORMATS, { error: 'json, slack or teams' })
      .default('json')
      .meta({ description: 'How it is written: json (all that is known), slack or teams.' }),
  })
    .prefault({})
    .meta({ description: 'The second way to tell operators.' }),
  heartbeat: section({
    url: noticeUrl.optional().meta({
      description:
        'A dead-man switch that raises the alarm when no sync ends well any more: a check of healthchecks.io, or what speaks its protocol.',
      examples: ['https://hc-ping.com/your-uuid'],
    }),
    url_file: path.optional().meta({ description: 'File that holds the URL, in place of url.' }),
  })
    .prefault({})
    .meta({ description: 'Where each sync reports that it began and how it ended.' }),
  after_failures: wholeNumber(1, 100).default(3).meta({
    description: 'So many failures in a row are told, where one alone may pass by itself.',
  }),
  remind_hours: wholeNumber(1, 8760).default(24).meta({
    description: 'What is still open is told again after so many hours.',
  }),
})
