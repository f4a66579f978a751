import { describe, expect, it } from 'vitest'
import { endpointUrl } from '../../../src/upstream/client/request.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'

describe('the address of an endpoint', () => {
  it.each([
    ['https://h.example', 'https://h.example/api/v1/leads'],
    ['https://h.example/', 'https://h.example/api/v1/leads'],
    ['https://h.example/api', 'https://h.example/api/v1/leads'],
    ['https://h.example/api/', 'https://h.example/api/v1/leads'],
    ['https://h.example/api/v1', 'https://h.example/api/v1/leads'],
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
    ['100 %', '/api/v1/leads/100%20%25'],
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
