/** Parses the text format of Prometheus and checks it by the rules of `promtool check metrics`. */

export interface Metric {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]
}

/** Units that are multiples of a base unit: https://prometheus.io/docs/practices/naming/#base-units */
const NO_BASE_UNITS = ['ms', 'milliseconds', 'minutes', 'hours', 'days', 'kb', 'mb', 'gb', 'percent']
const SUFFIXES_OF_OTHERS = /_(count|sum|bucket)$/

/** Returns the metrics by name. */
export function readMetrics(text: string): Map<string, Metric> {
  const metrics = new Map<string, Metric>()
  for (const block of text.split(/^(?=# HELP )/m).filter((part) => part.startsWith('# HELP '))) {
    const [, name = '', help = ''] = /^# HELP (\S+) (.*)$/m.exec(block) ?? []
    const [, type = ''] = /^# TYPE \S+ (\S+)$/m.exec(block) ?? []
    const samples = [...block.matchAll(/^([a-z][\w:]*)(?:\{(.*)\})? (\S+)$/gim)].map(
      ([, , labels = '', value]) => ({ labels: readLabels(labels), value: Number(value) }),
    )
    metrics.set(name, { name, type, help, samples })
  }
  return metrics
}

/** Lists the faults in the name and the help text of a metric. */
export function faultsOf({ name, type, help, samples }: Metric): string[] {
  const words = name.split('_')
  const unit = words.find((word) => NO_BASE_UNITS.includes(word))
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)))
  return [
    /^[a-z][a-z\d_]*$/.test(name) ? null : 'not in snake case',
    help === '' ? 'no help' : null,
    type === 'counter' && !name.endsWith('_total') ? 'a counter ends in _total' : null,
    type !== 'counter' && name.endsWith('_total') ? 'only a counter ends in _total' : null,
    type !== 'histogram' && type !== 'summary' && SUFFIXES_OF_OTHERS.test(name)
      ? 'it ends like a part of a histogram'
      : null,
    ['gauge', 'counter', 'histogram', 'summary'].some((each) => words.includes(each))
      ? 'it says its type'
      : null,
    unit === undefined ? null : `${unit} is no base unit`,
    [...labels].every((label) => /^[a-z][a-z_]*$/.test(label)) ? null : 'a label is not in snake case',
  ]
    .filter((fault) => fault !== null)
    .map((fault) => `${name}: ${fault}`)
}

function readLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]),
  )
}
