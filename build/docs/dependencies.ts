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
    '`web/auth/session.ts`: a signed cookie',
    '`@fastify/session` keeps them in memory, so that each restart signs everybody out; `@fastify/secure-session` brings 18 MB of libsodium. Both have one fixed cookie name, and ours is `__Host-leadsheet` only where the request came through TLS.',
  ],
  [
    'Cookies',
    'one line to write, one to read',
    '`@fastify/cookie` would save about 15 lines but add a package.',
  ],
  [
    'CSRF',
    '`@fastify/csrf-protection`, with the secret from our session',
    'We do not use its own cookie. We also check the origin of a form (`web/server/headers.ts`).',
  ],
  [
    'Rate limits',
    '`@fastify/rate-limit`',
    'It replaced our counter. Its `normalizeIP` also finds the network that sent a wrong token.',
  ],
  [
    'Forms',
    '`Response.formData()` of Node, 20 lines',
    '`@fastify/formbody` reads one of the two encodings of RFC 8058; `@fastify/multipart` would be another package for the second.',
  ],
  [
    'Headers',
    'three constants in `web/server/headers.ts`',
    '`@fastify/helmet` sets one policy for all pages; ours has three, each checked word by word by a test, and as options they would take as many lines.',
  ],
  ['Secret comparison', '`timingSafeEqual` of `node:crypto`', 'It replaced our own code.'],
  ['Arguments', '`commander`', '`parseArgs` of Node knows no commands, no help and no choices.'],
  [
    'Tables',
    '`cli/terminal/table.ts`',
    '`cli-table3` was removed: widths, cuts and omissions were our own code already, and the package only added the spaces.',
  ],
  [
    'Progress bars',
    '`cli/terminal/terminal.ts` on `node:readline`',
    '`cli-progress` was removed: the line was our own code already, and the package only redrew it.',
  ],
  [
    'Questions',
    '`cli/terminal/prompter.ts` on `node:readline/promises`',
    '`@clack/prompts` would replace about 100 lines; that was not worth the last of the 24 places.',
  ],
  [
    'Backoff',
    '`retry.ts`, a table of policies',
    "undici's own retry cuts Retry-After to 30 s and `p-retry` does not read it. Neither outlives a restart, but the waits of messages and alerts have to, so they are in the store.",
  ],
  [
    'CSV',
    '24 lines to write, 32 to read',
    '`csv-stringify` and `csv-parse` have more options than these files have lines.',
  ],
  [
    'XLSX',
    'our encoder on `yazl`',
    'With ours, the same rows give the same bytes, and no cell can be a formula.',
  ],
  [
    'Public holidays',
    '`date-holidays` 3.37.0, of which the build copies one file',
    'It alone has the world, its regions and several languages offline, and it is kept (3.37.0 is of September 2026). With the 14 packages that it asks for it takes 45 MB, but the file that it offers to browsers is 1.5 MB and has all of it. `feiertagejs` knows Germany alone, `@18f/us-federal-holidays` the USA alone, and `open-holiday-js` asks a server.',
  ],
  [
    'Cron',
    '`node-cron` wakes, `croner` calculates',
    '`node-cron` keeps no state and drops a run when the process was busy for a second.',
  ],
  [
    'Log',
    '`pino`, `pino-pretty`',
    'Our own formatter would take 30 lines, and a test for every kind of error.',
  ],
]

export function dependenciesPage(): string {
  const packages = Object.entries(manifest.dependencies).map(([name, version]) => [
    code(name),
    version,
    REASONS[name as keyof typeof manifest.dependencies],
  ])
  return page(
    'Dependencies',
    'The packages that the program uses besides Node, each with an exact version. Our limits are 24 packages, and 110 MB without Node (`npm ci --omit=dev`).',
    'They take 101 MB now. Of these, 27 MB are the binaries of better-sqlite3 for all platforms.',
    '## What each is for',
    table(['Package', 'Version', 'Why'], packages),
    '## What was tried or considered',
    table(['Subject', 'What we use', 'Why nothing else'], TRIED),
  )
}
