/**
 * Generates the page on dependencies: the packages that the program uses and why, and the packages that were
 * tried but not taken.
 */
import manifest from '../../package.json' with { type: 'json' }
import { code, page, table } from './markdown.ts'

const REASONS: Readonly<Record<keyof typeof manifest.dependencies, string>> = {
  '@css-inline/css-inline': 'Puts CSS into elements, because mail programs drop stylesheets.',
  '@expo-google-fonts/inter': 'The font of charts.',
  '@fastify/csrf-protection': 'CSRF tokens of the dashboard.',
  '@fastify/rate-limit': 'Limits the requests of each network (IPv6: of each /64).',
  '@resvg/resvg-js': 'Turns SVG charts into PNG for mail programs.',
  'better-sqlite3': 'SQLite, with its binaries.',
  commander: 'Commands, options and help.',
  'csv-parse': 'Reads lists that come as CSV.',
  croner: 'Finds the next run of a cron expression.',
  fastify: 'The HTTP server.',
  handlebars: 'Templates of reports and pages.',
  'intl-messageformat': 'The words of reports in ICU MessageFormat.',
  imapflow: 'Reads the mailbox of bounces over IMAP.',
  kysely: 'SQL with types.',
  'node-cron': 'Wakes the daemon each minute.',
  nodemailer: 'SMTP and MIME.',
  pg: 'The client of PostgreSQL.',
  'pg-boss': 'The job queue of several workers.',
  pino: 'The log as JSON lines.',
  'pino-pretty': 'The log as readable lines on a terminal.',
  'prom-client': 'Writes `/metrics`.',
  'postal-mime': 'Reads MIME messages: bounces, and replies that unsubscribe.',
  undici: "The HTTP client, with time limits that Node's `fetch` does not have.",
  yaml: 'Reads YAML, and names the line of a mistake.',
  yazl: 'Writes ZIP archives: XLSX files.',
  zod: 'Checks settings and answers of the upstream.',
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
  [
    'Backoff',
    '`retry.ts`',
    'undici cuts Retry-After to 30 s, `p-retry` does not read it, and neither outlives a restart.',
  ],
  [
    'OAuth 2.0',
    '`src/login/token-request.ts`',
    '`oauth4webapi` refuses answers that vendors give, such as forms and other token types, and does not sign for jwt-bearer.',
  ],
  [
    'Public holidays',
    'one file of `date-holidays`, copied by the build',
    'Only it has the whole world offline; with its packages it would take 45 MB, its file takes 1.5 MB.',
  ],
]

export function dependenciesPage(): string {
  const packages = Object.keys(manifest.dependencies).map((name) => [
    code(name),
    REASONS[name as keyof typeof manifest.dependencies],
  ])
  return page(
    'Dependencies',
    'The packages that the program uses besides Node; `package.json` has the exact version of each. Our limits are 26 packages, and 110 MB without Node (`npm ci --omit=dev`). They take 101 MB now, of which 27 MB are the binaries of better-sqlite3 for all platforms.',
    table(['Package', 'Why'], packages),
    '## What was not taken',
    table(['Subject', 'What we use', 'Why nothing else'], TRIED),
  )
}
