// @long
/** The demo goes on as the daemon, and the links in its reports open the pages of the leads. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openService } from '../../src/service/open.ts'
import { folderWith } from '../support/folder.ts'
import { finished, startLeadsheet } from '../support/leadsheet.ts'
import { COMPANIES } from '../support/service.ts'

it('demo --serve opens the links of its report until Ctrl-C, and keeps the address of its service', async () => {
  const cwd = folderWith()
  const folder = join(cwd, 'data/demo')
  mkdirSync(folder, { recursive: true })
  // The demo goes on with this service, whose past is shorter than that of its own.
  await (
    await openService({ file: join(folder, 'service.db'), companiesFile: COMPANIES, historyDays: 21 })
  ).close()
  // Another program of this machine may have the port of the dashboard.
  const settings = `data_dir: .
mail: { url: file:./outbox, from: leads@example.com }
web: { listen: "127.0.0.1:0" }
lead_url: "http://127.0.0.1/leads/{id}"
recipients: [ana@example.com]
reports: [{ name: daily, schedule: "0 7 * * *" }]
`
  writeFileSync(join(folder, 'leadsheet.yaml'), settings)
  for (const scan of ['full', 'incremental']) {
    const demo = startLeadsheet(['demo', '--serve'], { cwd })
    const told = finished(demo)
    let said = ''
    const web = new Promise<string>((resolve) => {
      demo.stderr?.on('data', (part) => {
        said += part
        const [, url] = /The dashboard is at (\S+)\. Ctrl-C/.exec(said) ?? []
        if (url !== undefined) resolve(url)
      })
    })
    const url = await Promise.race([web, told.then(({ stdout, stderr }) => stdout + stderr)])
    const [path] = /leads\/ld_\w+/.exec(pageOf(folder)) ?? []
    const response = await fetch(`${url}/${path}`)
    expect(response.status, said).toBe(200)
    demo.kill('SIGINT')
    const { status, stdout } = await told
    expect(status, said).toBe(0)
    expect(stdout).toContain(`${scan} scan complete`)
  }
})

function pageOf(folder: string): string {
  const [day = ''] = readdirSync(join(folder, 'archive/daily'))
  return readFileSync(join(folder, 'archive/daily', day, 'index.html'), 'utf8')
}
