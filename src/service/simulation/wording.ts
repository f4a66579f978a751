/** The sentences of a lead's activity history. `{name}` stands for a value. */
import type { Random } from './random.ts'

const LINES = {
  discovered: [
    'Found through the {source}; matches the criteria of the pipeline',
    'New in the {source}: industry and place fit',
    'Turned up in the {source}, not known before',
  ],
  enriched: [
    'Company data completed; {contact} found as contact',
    'Profile and technologies read from the site; contact is {contact}',
    'Two sources agree on size and industry; {contact} looks responsible',
  ],
  scored: ['Fit scored {score} of 100', 'Score {score}: size, industry and signals weighed'],
  qualified: [
    'Qualified with a score of {score}',
    'Score {score} is above the bar of the pipeline',
    'Good fit at {score}; handed to outreach',
  ],
  disqualified: [
    'Score {score} is below the bar of the pipeline',
    'Too far from the target at {score}',
    'Not pursued: no need in sight (score {score})',
  ],
  'no longer operating': [
    'The company no longer operates',
    'Site is gone and the register says closed',
    'No sign of activity for a year',
  ],
  contacted: [
    'First message sent to {contact}',
    'Personal introduction sent to {contact}',
    'Message on their recent hiring sent to {contact}',
  ],
  'contacted without address': ['No address known: {contact} approached through the contact form'],
  bounced: [
    'Message to {contact} came back: address unknown',
    'Mailbox of {contact} is gone; another way is looked for',
  ],
  dropped: [
    'Is a customer of a partner already',
    'On the list of those who want no messages',
    'A colleague is in talks with their parent company',
  ],
  'first follow-up': ['First follow-up sent', 'Reminder sent with a short case study'],
  'last follow-up': ['Last follow-up sent', 'Third message sent, with an offer to close the file'],
  replied: [
    'Reply: asks to come back later in the year',
    'Reply: forwarded to a colleague',
    'Reply: wants prices first',
    'Reply: polite, without commitment',
  ],
  'replied with interest': [
    'Reply: interested, asks for dates',
    'Reply: would like a demonstration',
    'Reply: has the problem now, wants to talk',
  ],
  meeting: [
    'Meeting held; needs and budget discussed',
    'Video call with two of their team',
    'Demonstration given, questions on integration',
  ],
  'set back': [
    'Their sponsor has left; the successor wants to begin anew',
    'Meeting to be held again with their head of purchasing',
    'Put off by them; another date is looked for',
  ],
  negotiating: [
    'Proposal sent',
    'Questions on data protection answered',
    'Reference customer named',
    'Terms discussed; their legal team reads the contract',
    'Trial account in use',
  ],
  won: ['Contract signed', 'Order received', 'Signed for a year'],
  'lost in silence': ['No answer after three messages', 'Silent; closed'],
  'lost after reply': [
    'No need at present',
    'Uses a competitor and is content',
    'No budget this year',
    'Asked not to be contacted again',
  ],
  'lost after meeting': [
    'Decided for a competitor',
    'Project postponed without a date',
    'Price too high',
    'Will build it themselves',
  ],
} as const
type LineName = keyof typeof LINES

/** One of the sentences for an occasion, filled in. */
export function lineFor(
  occasion: LineName,
  random: Random,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return random.pick<string>(LINES[occasion]).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''))
}
