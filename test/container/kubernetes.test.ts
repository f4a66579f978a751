/** The manifests follow the schemas of their kinds and our rules. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { unknownArguments } from '../support/docs/commands.ts'
import { ROOT, readImage } from './support/image.ts'
import { schemaCheck } from './support/schema.ts'
import { settingsWith } from './support/settings.ts'

const FOLDER = join(ROOT, 'deploy/kubernetes')
const FILES = [
  ...['base/volume.yaml', 'daemon/deployment.yaml', 'daemon/service.yaml', 'cron/jobs.yaml'],
  ...['scale/deployment.yaml', 'scale/service.yaml', 'scale/disruption.yaml'],
]

interface PodSpec {
  readonly securityContext: object
  readonly containers: readonly [
    {
      readonly args?: readonly string[]
      readonly env: readonly { readonly name: string; readonly value: string }[]
      readonly securityContext: object
      readonly volumeMounts: PodSpec['volumes']
    },
  ]
  readonly volumes: readonly { readonly name: string }[]
}

function read(file: string) {
  return parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) => document.toJS())
}

/** Returns the pod of each deployment and of each cron job. */
function pods(): (readonly [name: string, pod: PodSpec])[] {
  return FILES.flatMap((file) =>
    read(file).flatMap(({ metadata, spec }) => {
      const { template } = spec.jobTemplate?.spec ?? spec
      return template === undefined ? [] : [[`${metadata.name} in ${file}`, template.spec] as const]
    }),
  )
}

it.each(FILES)('deploy/kubernetes/%s is what its kinds are made of', (file) => {
  for (const manifest of read(file)) {
    const check = schemaCheck('kubernetes', `${manifest.apiVersion} ${manifest.kind}`)
    expect(check(manifest), manifest.metadata.name).toEqual([])
    expect(check({ ...manifest, spec: { ...manifest.spec, misspelt: 1 } })).not.toEqual([])
  }
})

describe.each(pods())('the pod of %s', (_, pod) => {
  const [container] = pod.containers

  it('is nobody, with a read-only root and no privileges', () => {
    const [user = '', group = ''] = readImage().user.split(':')
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: Number(user),
      runAsGroup: Number(group),
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name))
  })

  it('names only a command that there is, and gives settings that the daemon takes', async () => {
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))
    expect(await unknownArguments(container.args ?? readImage().command)).toEqual([])
    const { warnings, reports } = settingsWith(env, {
      '/etc/leadsheet/leadsheet.yaml': readFileSync(join(FOLDER, 'base/leadsheet.yaml'), 'utf8'),
      '/run/secrets/leadsheet/api-key': 'k-0123456789',
      '/run/secrets/leadsheet/mail-url': 'smtp://reports:secret@mail.example.com:587',
      '/run/secrets/leadsheet/web-token': 'a-token-for-the-test',
      '/run/secrets/leadsheet/database-url': 'postgresql://app:a-password@postgres-rw:5432/app',
    })
    expect(warnings).toEqual([])
    const [command, , report] = container.args ?? []
    if (command === 'report') expect(reports.map(({ name }) => name)).toContain(report)
  })
})

it('the deployment is one, which ends before the next one starts, and is asked for what it serves', () => {
  const [{ spec } = { spec: {} }] = read('daemon/deployment.yaml')
  expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
  const [{ spec: service } = { spec: {} }] = read('daemon/service.yaml')
  const labels = { 'app.kubernetes.io/name': 'leadsheet' }
  expect(spec).toMatchObject({ selector: { matchLabels: labels }, template: { metadata: { labels } } })
  expect(service).toMatchObject({ selector: labels })
  const paths = JSON.stringify(spec).match(/"path":"[^"]*"/g)
  expect(paths).toEqual(['"path":"/healthz"', '"path":"/healthz"', '"path":"/readyz"'])
})

it('the workers have their store in PostgreSQL, and claim no volume', () => {
  const worker = JSON.stringify(read('scale/deployment.yaml'))
  expect(worker).toContain('"name":"LEADSHEET_DATABASE_URL_FILE"')
  expect(worker).toContain('"path":"database-url"')
  expect(worker).not.toContain('persistentVolumeClaim')
})

it.each(['base', 'daemon', 'cron', 'scale'])(
  'deploy/kubernetes/%s/kustomization.yaml names files that there are, and the version of the program',
  (layer) => {
    const folder = join(FOLDER, layer)
    const { resources, configMapGenerator, images } = parse(
      readFileSync(join(folder, 'kustomization.yaml'), 'utf8'),
    )
    const maps: readonly { readonly files: readonly string[] }[] = configMapGenerator ?? []
    const files: readonly string[] = [...resources, ...maps.flatMap((map) => map.files)]
    expect(files.filter((file) => !existsSync(join(folder, file)))).toEqual([])
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    for (const { newTag } of images ?? []) expect(newTag).toBe(version)
  },
)
