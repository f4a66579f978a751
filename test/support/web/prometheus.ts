/** Parses the text format of Prometheus. */

export interface Metric {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]
}

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

function readLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]),
  )
}
