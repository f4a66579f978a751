/**
 * The management API of RabbitMQ from Debian: Basic authentication, numbered pages in an envelope of its own,
 * at most 500 records in a page, and an error after the last page. Without page parameters it answers with a
 * bare list.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderWith } from '../support/folder.ts'
import { freePort } from '../support/network/free-port.ts'
import { findInstalled } from '../support/process/programs.ts'
import { type RealServer, type RealServerKind, serverWith } from './real-server.ts'
import { startProcess } from './server-process.ts'

/**
 * The server program in Debian's folder. The one in the path must run as root or as its own user, and writes
 * to /var.
 */
const BINS = '/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server'
const USER = 'reader'
const PASSWORD = 'p4ss-for-tests'
const KEY = `${USER}:${PASSWORD}`

export const RABBITMQ: RealServerKind = {
  name: 'RabbitMQ',
  missing: () => (findInstalled(BINS) ? null : 'apt-get install rabbitmq-server'),
  start: startRabbitMq,
}

async function startRabbitMq(records: number): Promise<RealServer> {
  const folder = folderWith()
  const port = await freePort()
  const namesPort = await freePort()
  writeSettings(folder, port, records)
  // Erlang's name registry is started here, because the server would leave it running.
  startProcess('epmd', ['-address', '127.0.0.1', '-port', String(namesPort)])
  const server = startProcess(findInstalled(BINS) ?? '', [], {
    HOME: folder,
    ERL_EPMD_PORT: String(namesPort),
    RABBITMQ_BASE: folder,
    RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    RABBITMQ_FEATURE_FLAGS_FILE: join(folder, 'feature_flags'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_NODENAME: `leadsheet-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(await freePort()),
  })
  // The server answers before it has made all queues of the definitions file.
  return serverWith(records, server, {
    url: `http://127.0.0.1:${port}/api/queues`,
    key: KEY,
    headers: { authorization: `Basic ${Buffer.from(KEY).toString('base64')}` },
    id: 'name',
    read: () => ['GET', '/api/queues'],
    // A queue cannot be changed, so that it stays as it is.
    write: (change, index) => [
      change === 'remove' ? 'DELETE' : 'PUT',
      `/api/queues/%2F/${queue(index).name}`,
      queue(index),
    ],
  })
}

function writeSettings(folder: string, port: number, records: number): void {
  const definitions = {
    users: [{ name: USER, password: PASSWORD, tags: 'administrator' }],
    vhosts: [{ name: '/' }],
    permissions: [{ user: USER, vhost: '/', configure: '.*', write: '.*', read: '.*' }],
    queues: Array.from({ length: records }, (_, index) => ({ ...queue(index), vhost: '/' })),
  }
  const settings = {
    'listeners.tcp': 'none',
    'management.tcp.ip': '127.0.0.1',
    'management.tcp.port': port,
    // Metrics change by themselves, so two reads of a record would differ.
    'management_agent.disable_metrics_collector': true,
    load_definitions: join(folder, 'definitions.json'),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(folder, 'rabbitmq.conf'), `${lines.join('\n')}\n`)
  writeFileSync(join(folder, 'definitions.json'), JSON.stringify(definitions))
  writeFileSync(join(folder, 'enabled_plugins'), '[rabbitmq_management].\n')
}

function queue(index: number) {
  return {
    name: `lead-${index}`,
    type: 'classic',
    durable: true,
    auto_delete: false,
    arguments: { 'x-company': `Company ${index}` },
  }
}
