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
    'The daemon runs every check once a minute. `status`, `doctor`, `/readyz`, `/metrics`, the alerts and the dashboard all read the same findings.',
    '`fail` means that something important does not work, and `warn` that something needs attention. A single finding can have the other severity.',
    'An alert opens at once, or after three failures in a row. An alert that is announced once reports a past event. leadsheet sends no reminder of it and does not resolve it.',
    table(
      ['Check', 'In the subject', 'Severity', 'Alert', 'Shown in', 'When'],
      CHECK_IDS.map((id) => {
        const { title, severity, alert = 'none', shownIn, meaning } = CHECKS[id]
        return [code(id), title, severity, alert.replace('_', ' '), shownIn.join(', '), meaning]
      }),
    ),
  )
}

export function errorsPage(): string {
  const codes = Object.entries(ERROR_CODES) as [ErrorCode, string][]
  return page(
    'Exit status and error codes',
    'Every command ends with one of these exit statuses. A failed command also names one error code. A command that only lists what `--yes` would do ends with 2, and its result names no code. With `--json` the failure is one line on standard error: `{"error": {"code", "message", "hint"}}`.',
    '## Exit status',
    table(
      ['Exit status', 'Meaning'],
      Object.values(EXIT_STATUS).map(({ status, meaning }) => [String(status), meaning]),
    ),
    '## Error codes',
    table(
      ['Error code', 'Meaning', 'Status'],
      codes.map(([name, meaning]) => {
        const { status } = EXIT_STATUS[endingOf(new LeadsheetError(name, ''))]
        return [code(name), meaning, String(status)]
      }),
    ),
  )
}

export function figuresPage(): string {
  return page(
    'Figures',
    'Every figure has one definition. For the same period and leads, reports, `npx leadsheet figures` and `npx leadsheet figures NAME` give the same number.',
    table(
      ['Figure', 'Title', 'Unit', 'Meaning'],
      FIGURES.map(({ name, title, unit, meaning }) => [code(name), title, unit, meaning]),
    ),
    'Money is in whole units of its currency, with cents as decimals. A share is a part divided by its whole, so 0.25 is 25 %. It comes with its part and its whole.',
  )
}

export async function metricsPage(): Promise<string> {
  const { registry } = openMetrics({
    measure: () => Promise.reject(new Error('nothing is measured')),
    now: () => new Date(),
    version: '',
  })
  const all = registry.getMetricsAsArray().map((metric) => {
    const { name, help, type, labelNames = [] } = metric as MetricObject & { labelNames?: readonly string[] }
    const labels = labelNames.map(code).join(', ')
    return [code(name), labels, String(type), help.replace(/\.$/, '')]
  })
  const isOurs = ([name = '']: readonly string[]) => name.startsWith('`leadsheet_')
  const head = ['Metric', 'Labels', 'Type', 'Meaning']
  return page(
    'Metrics',
    'The daemon serves these metrics at `/metrics` for Prometheus. A series exists from the start of the process, unless its meaning says when it is absent.',
    '## Metrics of leadsheet',
    table(head, all.filter(isOurs)),
    '## Metrics of the process\n\nThese come from the package prom-client. They describe only the process that serves `/metrics`.',
    table(
      ['Metric of the process', ...head.slice(1)],
      all.filter((row) => !isOurs(row)),
    ),
  )
}
