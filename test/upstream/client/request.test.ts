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

describe('the key', () => {
  it.each([
    [{}, 'authorization', `Bearer ${KEY}`],
    [{ value: '{key}' }, 'authorization', KEY],
    [{ value: 'Token token={key}' }, 'authorization', `Token token=${KEY}`],
    [{ header: 'X-Api-Key', value: '{key}' }, 'x-api-key', KEY],
    [{ value: 'Basic {basic}' }, 'authorization', `Basic ${btoa(`${KEY}:`)}`],
  ])('goes along as the profile says: %j', (auth, name, value) => {
    expect(authorized(auth).headers).toEqual({ accept: 'application/json', [name]: value })
  })

  it('goes into the address, and into no header, where the profile says so', () => {
    expect(authorized({ query: 'api_key' })).toEqual({
      headers: { accept: 'application/json' },
      search: '?api_key=s3cret%24%26',
    })
  })

  it('goes into the address of a link, and leaves the rest of it as it stands', () => {
    const url = new URL('https://h.example/leads?a=x+y&key=old&b=%2F%20~&c=1/2')
    authorize(profileWith({ auth: { query: 'key' } }), KEY, url, {})
    expect(requestTarget(url, true)).toBe('/leads?a=x+y&key=s3cret%24%26&b=%2F%20~&c=1/2')
  })

  it('goes into two headers at once, and a header of the profile takes the place of ours', () => {
    const { headers } = authorized({ headers: { 'X-App-Key': '{key}', Accept: 'application/vnd.api+json' } })
    expect(headers).toEqual({
      accept: 'application/vnd.api+json',
      authorization: `Bearer ${KEY}`,
      'x-app-key': KEY,
    })
  })

  it('goes nowhere without a need for one', () => {
    expect(authorized('none')).toEqual({ headers: { accept: 'application/json' }, search: '' })
  })
})
