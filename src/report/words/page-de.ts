/** The words of the pages for recipients in German. */
import type { PeriodKind } from '../../domain/figures.ts'
import type { PageWords } from './page-en.ts'

const list = new Intl.ListFormat('de-DE', { type: 'conjunction' })
const DAYS = ['montags', 'dienstags', 'mittwochs', 'donnerstags', 'freitags', 'samstags', 'sonntags']
const COVERED: Record<PeriodKind, string> = {
  day: 'den Tag davor',
  working_day: 'den letzten Arbeitstag, montags auch das Wochenende',
  week: 'die Woche davor',
  month: 'den Monat davor',
  since_last: 'alles seit dem letzten',
}

export const GERMAN_PAGE: PageWords = {
  about: 'Ihr Abonnement',
  due: (weekdays, times) => {
    const isWorkweek = weekdays.join() === '1,2,3,4,5'
    const days =
      weekdays.length === 7
        ? 'täglich'
        : isWorkweek
          ? 'montags bis freitags'
          : list.format(weekdays.map((day) => DAYS[day - 1] ?? ''))
    return times.length > 4 ? `${days}, ${times.length}-mal` : `${days} um ${list.format(times)} Uhr`
  },
  inZone: (text, zone) => `${text} (${zone})`,
  facts: {
    when: 'Wann',
    next: 'Nächster',
    covers: 'Über',
    leads: 'Leads',
    files: 'Anhang',
  },
  covered: COVERED,
  pipelines: (names) => `Pipelines ${names}`,
  allLeads: 'alle, von denen der Bericht handelt',
  state: {
    active: 'Sie bekommen diesen Bericht.',
    weekly: 'Sie bekommen diesen Bericht einmal in der Woche.',
    paused: {
      recipient: (since) => `Pausiert seit ${since}. Bis Sie fortsetzen, kommt nichts.`,
      operator: (since) => `Seit ${since} für Sie pausiert, von denen, die ihn verschicken.`,
      leadsheet: (since) => `Pausiert seit ${since}, weil Mails an Sie zurückgewiesen wurden.`,
    },
    unsubscribed: (since) => `Abbestellt seit ${since}.`,
    unlisted: 'Sie stehen nicht auf der Liste dieses Berichts und bekommen nichts.',
  },
  done: {
    pause: 'Pausiert.',
    resume: 'Fortgesetzt.',
    stop: 'Sie bekommen diese Mails nicht mehr. Eine, die schon unterwegs ist, kann noch ankommen.',
    start: 'Willkommen zurück.',
    weekly: 'Geändert: ab jetzt einmal in der Woche.',
    as_scheduled: 'Geändert: ab jetzt wieder jeder Bericht.',
  },
  actions: {
    pause: 'Pausieren',
    resume: 'Fortsetzen',
    stop: 'Abbestellen',
    start: 'Wieder abonnieren',
    weekly: 'Nur einmal in der Woche',
    as_scheduled: 'Jeden Bericht',
  },
  hints: {
    pause: 'Es kommt nichts, bis Sie hier fortsetzen.',
    resume: 'Die Berichte kommen wieder wie zuvor.',
    stop: 'Keine weiteren dieser Berichte. Hier können Sie zurückkommen.',
    start: 'Die Berichte kommen wieder wie zuvor.',
    weekly: 'Ein Bericht in der Woche, über die Woche davor.',
    as_scheduled: 'Jeder Bericht wieder zu seiner Zeit.',
    unlisted: 'Bleibt so, wenn Sie wieder auf die Liste kommen.',
  },
  private: 'Diese Seite ist nur für Sie: Wer ihre Adresse hat, kann ändern, was Sie bekommen.',
  notices: {
    unknown: {
      title: 'Dieser Link führt nirgendwohin',
      text: 'Vielleicht wurde er beim Kopieren abgeschnitten oder gilt nicht mehr. Öffnen Sie den Link der neuesten Mail, oder antworten Sie auf sie, um abzubestellen. (Wer leadsheet betreibt, beginnt bei /.)',
    },
    wish: {
      title: 'Das wurde nicht verstanden',
      text: 'Es wurde nichts geändert. Öffnen Sie den Link aus der Mail noch einmal. (Wer leadsheet betreibt, beginnt bei /.)',
    },
    tooMany: {
      title: 'Zu viele Anfragen',
      text: 'Es wurde nichts geändert. Versuchen Sie es in einer Minute wieder.',
    },
    host: {
      title: 'Nicht unter dieser Adresse',
      text: 'Öffnen Sie den Link aus der Mail, wie er ist. (Wer leadsheet betreibt, nennt weitere Adressen in web.hosts.)',
    },
    failed: {
      title: 'Hier ist etwas schiefgegangen',
      text: 'Es wurde nichts geändert. Versuchen Sie es später wieder, oder antworten Sie auf die Mail.',
    },
  },
}
