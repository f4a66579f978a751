/** The signature of Amazon, by vectors that Amazon has published. */
import { expect, it } from 'vitest'
import { signed } from '../../../src/mail/http/ses.ts'
import { mailApiOf } from '../../../src/mail/mail-url.ts'

// https://github.com/awslabs/aws-c-auth/tree/main/tests/aws-signing-test-suite/v4
const BODY = 'Param1=value1'
const HASH = '9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e'
it.each([
  ['post-vanilla', {}, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-header-key-sort',
    { 'my-header1': 'value1' },
    '',
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': '13',
      'x-amz-content-sha256': HASH,
    },
    BODY,
    'd3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b',
  ],
])('the request %s is signed as published', (_name, headers, body, signature) => {
  const login = {
    origin: 'https://example.amazonaws.com',
    user: 'AKIDEXAMPLE',
    password: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }
  const request = { path: '/', headers, body: Buffer.from(body) }
  const { authorization, ...time } = signed(request, login, new Date('2015-08-30T12:36:00Z'), 'service')
  expect(time).toEqual({ 'x-amz-date': '20150830T123600Z' })
  const names = [...Object.keys(headers), 'host', 'x-amz-date'].sort().join(';')
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  )
})

it.each([
  ['email.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['email-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['email.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['vpce-0a1b-2c3d.email.eu-central-1.vpce.amazonaws.com', 'eu-central-1'],
  ['email.ap-south-2.api.aws', 'ap-south-2'],
  ['mail.example.com?region=us-east-2', 'us-east-2'],
  ['mail.example.com', ''],
])('the region of %s is %j', (host, region) => {
  expect(mailApiOf(new URL(`ses://id:secret@${host}`)).region).toBe(region)
})
