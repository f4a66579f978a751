/**
 * What charts are painted with, in the colours of the mail around them (`templates/layout`). Texts keep a contrast
 * of 4.5 to their background in both schemes, lines of 3.
 */

export type Scheme = 'light' | 'dark'

export interface Colours {
  readonly background: string
  readonly text: string
  readonly grid: string
  readonly axis: string
  readonly newLeads: string
  readonly won: string
  /** Of the thin lines, which stay behind the thick ones. */
  readonly dailyOpacity: number
}

export const COLOURS: Readonly<Record<Scheme, Colours>> = {
  light: {
    background: '#ffffff',
    text: '#5b6472',
    grid: '#e9ecf1',
    axis: '#aab2bf',
    newLeads: '#2f5bea',
    won: '#0b7a50',
    dailyOpacity: 0.32,
  },
  dark: {
    background: '#191d23',
    text: '#a4adba',
    grid: '#2d343e',
    axis: '#5f6977',
    newLeads: '#7f9fff',
    won: '#55d394',
    dailyOpacity: 0.42,
  },
}

/** As far from white as from the dark card, so that one transparent picture serves both, and inverted mails too. */
export const ON_ANY_BACKGROUND = '#5078f0'
