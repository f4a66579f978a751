/** Generates the pages on checks, errors, figures and metrics. Most of them are one table of data from the code. */
import type { MetricObject } from 'prom-client'
import { CHECK_IDS, CHECKS } from '../../src/checks/run-checks.ts'
import { EXIT_STATUS, endingOf } from '../../src/cli/exit-status.ts'
import { ERROR_CODES, type ErrorCode, LeadsheetError } from '../../src/errors.ts'
import { FIGURES } from '../../src/store/figures/definition.ts'
import { openMetrics } from '../../src/web/monitoring.ts'
import { code, page, table } from './markdown.ts'

export function checksPage(): string {
  return page(
    'Checks and alerts',
    `The daemon runs every check once a minute. \`status\`, \`doctor\`, \`/metrics\`, the alerts and the dashboard all read the same findings. \`/readyz\` fails because of ${listed(READY)}. Only as alerts come ${listed(ONLY_ALERTED)}.`,
    '`fail` means that something important does not work, and `warn` that something needs attention.',
    'A check is of severity `warn` and opens its alert at once, unless the table says otherwise. Some alerts open after three failures in a row. An alert that is announced once reports a past event: leadsheet sends no reminder of it and does not resolve it.',
    table(
      ['Check (in the subject)', 'Severity, alert', 'When'],
      CHECK_IDS.map((id) => {
        const { title, severity, alert, meaning } = CHECKS[id]
        const given = `${severity}, ${(alert ?? 'no alert').replace('_', ' ')}`
        const name = title === id.replaceAll('_', ' ') ? code(id) : `${code(id)} (${title})`
        return [name, given === 'warn, at once' ? '' : given, meaning]
      }),
    ),
  )
}

const READY = CHECK_IDS.filter((id) => CHECKS[id].shownIn.includes('readyz'))
const ONLY_ALERTED = CHECK_IDS.filter((id) => CHECKS[id].shownIn.join() === 'alerts')

function listed(ids: readonly string[]): string {
  return new Intl.ListFormat('en').format(ids.map(code))
}

const ABOUT_RESULTS = `Results go to standard output. The log, the progress and errors go to standard error. With \`--json\` a result is one object, as [JSON output](json-output.md) shows.

A failed command names one error code. With \`--json\` the failure is one line on standard error:

\`\`\`
$ npx leadsheet query "SELECT nam FROM agent" --json
{"error":{"code":"query_failed","message":"no such column: nam","hint":"\`npx leadsheet query \\"SELECT * FROM dictionary\\"\` shows tables and columns."}}
\`\`\`

The code is stable, but its \`message\` and \`hint\` may change. An error with several mistakes also has \`mistakes\`. If the upstream asks for a wait, the error has \`not_before\`.

Installed for the machine, or in the container, you type \`leadsheet\` in place of \`npx leadsheet\`.`

const SYNC_RESULT = `## The result of a sync

A sync that was only partly done still prints its result. Its \`problems\` say why:

\`\`\`sh
npx leadsheet sync --json | jq .data.outcome
\`\`\`

| \`outcome\` | Meaning | Status |
|---|---|---|
| \`ok\` | All was read, and something had changed. | 0 |
| \`ok_no_change\` | All was read, and nothing had changed. | 0 |
| \`partial\` | Only a part was read. | 3 |
| \`deferred\` | The service accepts no request before \`not_before\`. | 4 |
| \`failed\` | Nothing could be read. | 1 |

\`scan\` says [how far you can trust the list of leads](../explanation/safe-sync.md#a-scan-has-a-result). \`drift\` lists each field of the records that is new, has vanished or has another type.`

export function errorsPage(): string {
  const codes = Object.entries(ERROR_CODES) as [ErrorCode, string][]
  return page(
    'Exit status and error codes',
    ABOUT_RESULTS,
    '## Exit status',
    table(
      ['Exit status', 'Meaning'],
      Object.values(EXIT_STATUS).map(({ status, meaning }) => [String(status), meaning]),
    ),
    'A command that only lists what `--yes` would do ends with 2, and its result names no code.',
    SYNC_RESULT,
    '## Error codes',
    'The status is 1, unless the meaning names another.',
    table(
      ['Error code', 'Meaning'],
      codes.map(([name, meaning]) => {
        const { status } = EXIT_STATUS[endingOf(new LeadsheetError(name, ''))]
        return [code(name), status === 1 ? meaning : `${meaning} (status ${status})`]
      }),
    ),
  )
}

export function figuresPage(): string {
  return page(
    'Figures',
    'Every figure has one definition. For the same period and leads, reports, `npx leadsheet figures` and `npx leadsheet figures NAME` give the same number.',
    table(
      ['Figure', 'Unit', 'Meaning'],
      FIGURES.map(({ name, unit, meaning }) => [code(name), unit, meaning]),
    ),
    'Money is in whole units of its currency, with cents as decimals. A share is a part divided by its whole: 0.25 is 25 %.',
  )
}

export async function metricsPage(): Promise<string> {
  const { registry } = openMetrics({
    measure: () => Promise.reject(new Error('nothing is measured')),
    now: () => new Date(),
    version: '',
  })
  const all = registry.getMetricsAsArray().map((metric) => {
    const { name, help, labelNames = [] } = metric as MetricObject & { labelNames?: readonly string[] }
    const labels = labelNames.length === 0 ? '' : `{${labelNames.join(',')}}`
    return [code(`${name}${labels}`), help.replace(/\.$/, '')]
  })
  return page(
    'Metrics',
    'The daemon serves these metrics at `/metrics` for Prometheus. A series exists from the start of the process, unless its meaning says when it is absent. A metric whose name ends in `_total` is a counter, any other a gauge. The names in braces are its labels.',
    table(
      ['Metric', 'Meaning'],
      all.filter(([name = '']) => name.startsWith('`leadsheet_')),
    ),
    'The metrics `process_…` and `nodejs_…` come from the package [prom-client](https://github.com/siimon/prom-client). They describe only the process that serves `/metrics`.',
  )
}
