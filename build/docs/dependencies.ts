/**
 * Generates the page on dependencies: the packages that the program uses and why, and the packages that were
 * tried but not taken.
 */
import manifest from '../../package.json' with { type: 'json' }
import { code, page, table } from './markdown.ts'

const REASONS: Readonly<Record<keyof typeof manifest.dependencies, string>> = {
  '@css-inline/css-inline':
    'Puts the CSS of a report into its elements, because mail programs drop stylesheets.',
  '@expo-google-fonts/inter': 'The font of charts, which are drawn on machines without fonts.',
  '@fastify/csrf-protection': "Makes and checks the CSRF tokens of the dashboard's forms.",
  '@fastify/rate-limit': 'Limits the requests of each network (IPv6: of each /64), in bounded memory.',
  '@resvg/resvg-js': 'Turns SVG charts into PNG, which mail programs show.',
  'better-sqlite3': 'SQLite, with its binaries, so that nothing is compiled.',
  commander: 'Commands, options and help.',
  croner: 'Finds the next run of a cron expression in a time zone.',
  fastify: 'The HTTP server of the pages, of webhooks and of the reference service.',
  handlebars: 'Templates of reports and pages, which installations can replace.',
  'intl-messageformat': 'The words of reports as data, in ICU MessageFormat.',
  kysely: 'Writes SQL with types, for SQLite and PostgreSQL.',
  'node-cron': 'Wakes the daemon each minute.',
  nodemailer: 'SMTP and MIME.',
  pg: 'The client of PostgreSQL.',
  'pg-boss': 'The job queue of several workers, in PostgreSQL.',
  pino: 'The log as JSON lines.',
  'pino-pretty': 'The log as readable lines on a terminal.',
  'prom-client': 'Writes `/metrics`, including the metrics of the process.',
  undici: "The HTTP client. It keeps connections open and has time limits that Node's `fetch` does not have.",
  yaml: 'Reads settings, profiles and report definitions, and names the line of a mistake.',
  yazl: 'Writes ZIP archives: XLSX files.',
  zod: 'Checks settings and answers of the source API.',
}

/** Each row names the subject, our choice, and the reason against the alternatives. */
const TRIED: readonly (readonly [subject: string, choice: string, reason: string])[] = [
  [
    'Sessions',
    'a signed cookie',
    '`@fastify/session` signs everybody out at each restart; `@fastify/secure-session` brings 18 MB.',
  ],
  [
    'Forms',
    '`Response.formData()` of Node',
    '`@fastify/formbody` reads only one of the two encodings of RFC 8058.',
  ],
  ['Headers', 'three constants', '`@fastify/helmet` sets one policy for all pages; ours are three.'],
  [
    'Tables, progress, questions',
    '`cli/terminal/`',
    '`cli-table3`, `cli-progress` and `@clack/prompts` would save few lines.',
  ],
  [
    'Backoff',
    '`retry.ts`',
    'undici cuts Retry-After to 30 s, `p-retry` does not read it, and neither outlives a restart.',
  ],
  ['CSV', 'about 60 lines', 'The packages have more options than these files have lines.'],
  ['XLSX', 'our encoder on `yazl`', 'The same rows give the same bytes, and no cell can be a formula.'],
  [
    'Public holidays',
    'one file of `date-holidays`, copied by the build',
    'Only it has the whole world offline; with its packages it would take 45 MB, its file takes 1.5 MB.',
  ],
  [
    'Cron',
    '`node-cron` wakes, `croner` calculates',
    '`node-cron` drops a run when the process was busy for a second.',
  ],
]

export function dependenciesPage(): string {
  const packages = Object.keys(manifest.dependencies).map((name) => [
    code(name),
    REASONS[name as keyof typeof manifest.dependencies],
  ])
  return page(
    'Dependencies',
    'The packages that the program uses besides Node; `package.json` has the exact version of each. Our limits are 24 packages, and 110 MB without Node (`npm ci --omit=dev`). They take 101 MB now, of which 27 MB are the binaries of better-sqlite3 for all platforms.',
    table(['Package', 'Why'], packages),
    '## What was not taken',
    table(['Subject', 'What we use', 'Why nothing else'], TRIED),
  )
}
