import { describe, expect, it } from 'vitest'
import { authorize } from '../../../src/upstream/client/authorize.ts'
import { endpointUrl, requestTarget } from '../../../src/upstream/client/request.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { profileWith } from '../../support/source/test-source.ts'

describe('the address of an endpoint', () => {
  it.each([
    ['https://h.example', 'https://h.example/api/v1/leads'],
    ['https://h.example/api', 'https://h.example/api/v1/leads'],
    ['https://h.example/api/v1//', 'https://h.example/api/v1/leads'],
    ['https://h.example/x/v1', 'https://h.example/x/v1/leads'],
    ['https://h.example:8443/tenant/api', 'https://h.example:8443/tenant/api/v1/leads'],
    ['https://h.example/tenant', 'https://h.example/tenant/api/v1/leads'],
    ['https://h.example/api?tenant=7', 'https://h.example/api/v1/leads?tenant=7'],
  ])('of %s is %s', (base, address) => {
    expect(endpointUrl(base, REFERENCE_PROFILE, 'leads').href).toBe(address)
  })

  it.each([
    ['ld_1', '/api/v1/leads/ld_1'],
    ['a/b?c#d', '/api/v1/leads/a%2Fb%3Fc%23d'],
    ['../pipelines', '/api/v1/leads/..%2Fpipelines'],
    ['$&', '/api/v1/leads/%24%26'],
  ])('holds the id %s as %s', (id, path) => {
    expect(endpointUrl('https://h.example', REFERENCE_PROFILE, 'lead', id).pathname).toBe(path)
  })

  it.each(['/leads/{id}', 'https://h.example/leads/{id}?full=1'])(
    'such as %s leads nowhere else for what an id is called',
    (lead) => {
      const profile = { endpoints: { ...REFERENCE_PROFILE.endpoints, lead } }
      for (const id of ['', '.', '..']) {
        expect(() => endpointUrl('https://h.example', profile, 'lead', id)).toThrow(
          `Nothing with the id "${id}" can be asked for`,
        )
      }
    },
  )
})

const KEY = 's3cret$&'

/** Returns the request after the key has been added. */
function authorized(auth: unknown): { headers: Record<string, string>; search: string } {
  const url = new URL('https://h.example/leads')
  const headers: Record<string, string> = { accept: 'application/json' }
  authorize(profileWith({ auth }), KEY, url, headers)
  return { headers, search: url.search }
}

const accept = 'application/json'

describe('the key', () => {
  it.each<readonly [auth: unknown, headers: object, search?: string]>([
    [{}, { accept, authorization: `Bearer ${KEY}` }],
    [{ value: '{key}' }, { accept, authorization: KEY }],
    [{ value: 'Token token={key}' }, { accept, authorization: `Token token=${KEY}` }],
    [
      { header: 'X-Api-Key', value: '{key}' },
      { accept, 'x-api-key': KEY },
    ],
    [{ value: 'Basic {basic}' }, { accept, authorization: `Basic ${btoa(`${KEY}:`)}` }],
    // Into the address, and into no header.
    [{ query: 'api_key' }, { accept }, '?api_key=s3cret%24%26'],
    // Into two headers at once; a header of the profile takes the place of ours.
    [
      { headers: { 'X-App-Key': '{key}', Accept: 'application/vnd.api+json' } },
      { accept: 'application/vnd.api+json', authorization: `Bearer ${KEY}`, 'x-app-key': KEY },
    ],
    ['none', { accept }],
  ])('goes along as the profile says, and nowhere without a need: %j', (auth, headers, search = '') => {
    expect(authorized(auth)).toEqual({ headers, search })
  })

  it('goes into the address of a link, and leaves the rest of it as it stands', () => {
    const url = new URL('https://h.example/leads?a=x+y&key=old&b=%2F%20~&c=1/2')
    authorize(profileWith({ auth: { query: 'key' } }), KEY, url, {})
    expect(requestTarget(url, true)).toBe('/leads?a=x+y&key=s3cret%24%26&b=%2F%20~&c=1/2')
  })
})
