import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  DATA_MODE,
  makeFolder,
  networkFault,
  refuseNetworkFileSystem,
} from '../../../src/store/db/file-system.ts'
import { folderWith } from '../../support/folder.ts'

it('a data directory on a network file system is refused by its name, and one on a local one is not', async () => {
  const told = Object.entries({
    NFS: 0x6969,
    SMB: 0x517b,
    CIFS: 0xff534d42,
    'CIFS, as a system of 32 bits says it': -0xacb2be,
    SMB2: 0xfe534d42,
    '9p': 0x01021997,
    FUSE: 0x65735546,
    VirtualBox: 0x786f4256,
    Ceph: 0x00c36400,
    ext4: 0xef53,
    XFS: 0x58465342,
    Btrfs: 0x9123683e,
    ZFS: 0x2fc12fc1,
    'overlayfs, as in a container': 0x794c7630,
    tmpfs: 0x01021994,
    'APFS, as macOS numbers it': 0x1a,
  }).map(([name, type]) => {
    const fault = networkFault('/data', { type })
    return `${name}: ${fault ? `${fault.code}: ${fault.message} ${fault.hint}` : 'taken'}\n`
  })
  await expect(told.join('')).toMatchFileSnapshot('golden/network.txt')
  const folder = folderWith()
  const isTaken = refuseNetworkFileSystem(folder).then(
    () => true,
    () => false,
  )
  expect(await isTaken).toBe(networkFault(folder, statfsSync(folder)) === null)
})

describe('a folder', () => {
  it('is made with those above it, and may be there already', async () => {
    const folder = join(folderWith(), 'a', 'b')
    await makeFolder(folder, 'no hint', DATA_MODE)
    await makeFolder(folder, 'no hint')
    expect(existsSync(folder)).toBe(true)
  })

  it.each([
    ['/proc/leadsheet/data', 'ENOENT: no such file or directory'],
    [join(import.meta.dirname, 'file-system.test.ts'), 'EEXIST: file already exists'],
  ])('that cannot be made fails at once: %s', async (folder, reason) => {
    await expect(makeFolder(folder, 'Choose another.')).rejects.toMatchObject({
      code: 'data_unwritable',
      message: `The folder ${folder} cannot be made: ${reason}`,
      hint: 'Choose another.',
    })
  })
})
