/** The words of the reports in German. */
import type { ChangeKind, StatDifference } from '../../domain/figures.ts'
import { capitalise } from './clean-text.ts'
import type { PeriodNames, PeriodShape } from './dates.ts'
import type { Words } from './en.ts'
import type { Numbers } from './numbers.ts'

export function german(numbers: Numbers, locale: string): Words {
  const { count } = numbers
  const plural = (n: number, one: string, many: string) => `${count(n)} ${n === 1 ? one : many}`
  const conjunction = new Intl.ListFormat(locale, { type: 'conjunction' })
  const disjunction = new Intl.ListFormat(locale, { type: 'disjunction' })
  const days = (n: number) => plural(n, 'Tag', 'Tage').replace(' ', '\u00a0')
  /** After "seit" and "von". */
  const daysDative = (n: number) => plural(n, 'Tag', 'Tagen').replace(' ', '\u00a0')
  const records = (n: number) => plural(n, 'Datensatz', 'Datensätze')
  const changes: Record<ChangeKind, string> = {
    won: 'Gewonnen',
    forward: 'Vorangekommen',
    back: 'Zurückgefallen',
    lost: 'Verloren oder disqualifiziert',
    gone: 'Im Dienst nicht mehr vorhanden',
    returned: 'Zurückgekehrt',
  }
  const figures: Record<StatDifference['figure'], string> = {
    leads: 'Leads',
    open: 'Offen',
    won: 'Gewonnen',
    lost: 'Verloren',
    disqualified: 'Disqualifiziert',
    win_rate: 'Abschlussquote',
    open_value: 'Offene Pipeline',
    won_value: 'Gewonnener Wert',
  }
  const titles: Record<string, string> = {
    daily: 'Leads am Tag',
    weekly: 'Leads der Woche',
    monthly: 'Leads des Monats',
  }
  const fields: Record<string, string> = {
    company_country: 'Land',
    company_region: 'Region',
    company_industry: 'Branche',
    company_employees: 'Mitarbeitende',
    agent_id: 'Agent',
    value_amount: 'Wert',
    score: 'Score',
    source: 'Quelle',
  }
  const statuses: Record<string, string> = {
    discovered: 'Entdeckt',
    enriched: 'Angereichert',
    qualified: 'Qualifiziert',
    contacted: 'Kontaktiert',
    replied: 'Geantwortet',
    meeting: 'Termin',
    won: 'Gewonnen',
    lost: 'Verloren',
    disqualified: 'Disqualifiziert',
    running: 'In Arbeit',
    idle: 'Bereit',
    paused: 'Pausiert',
    failing: 'Gestört',
    failed: 'Gestört',
    error: 'Gestört',
    offline: 'Offline',
  }

  return {
    dir: 'ltr',
    title: (name) => titles[name] ?? `Leads, ${capitalise(name)}`,
    isNew: 'neu',
    noChange: 'unverändert',
    none: '–',
    points: (size) => `${size} Pkt.`,
    counts: (part, whole) => `${count(part)} von ${count(whole)}`,
    and: (parts) => conjunction.format(parts),
    or: (parts) => disjunction.format(parts),
    days,
    fields,
    statuses,

    duration: {
      moment: 'weniger als eine Minute',
      minutes: (n) => plural(n, 'Minute', 'Minuten'),
      hours: (n) => plural(n, 'Stunde', 'Stunden'),
      days,
    },

    period: {
      long: ({ week, long }: PeriodNames) => (week === null ? long : `KW ${week} · ${long}`),
      short: ({ week, short }: PeriodNames) => (week === null ? short : `KW ${week}`),
      brief: ({ week, shape, brief, name }: PeriodNames) =>
        week === null ? (shape === 'month' ? `im ${name}` : `am ${brief}`) : `in KW ${week}`,
      against: ({ shape, name }: PeriodNames) =>
        ({
          day: `zum ${name} davor`,
          days: 'zum gleich langen Zeitraum davor',
          week: 'zur Woche davor',
          month: `zum ${name}`,
        })[shape],
      before: ({ shape, name }: PeriodNames) =>
        ({
          day: `der ${name} davor`,
          days: 'der gleich lange Zeitraum davor',
          week: 'die Woche davor',
          month: `der ${name}`,
        })[shape],
    },

    scope: {
      pipelines: (n) => plural(n, 'Pipeline', 'Pipelines'),
      noPipelines: 'Noch keine Pipelines',
      comparedWith: (period) => `Vergleich: ${period}`,
      only: (conditions) => `nur ${conditions}`,
      others: (n) => plural(n, 'weiteres', 'weitere'),
      atLeast: (field, value) => `${field} ab ${value}`,
      atMost: (field, value) => `${field} bis ${value}`,
      between: (field, min, max) => `${field} von ${min} bis ${max}`,
    },

    subject: {
      newLeads: (n, percent) => `${count(n)} neu${percent ? ` (${percent})` : ''}`,
      won: (n) => `${count(n)} gewonnen`,
      stalled: (n) => `${count(n)} ohne Bewegung`,
      failing: (n) => `${plural(n, 'Agent', 'Agenten')} gestört`,
      quiet: 'ruhig, nichts Neues',
      incomplete: (newLeads, won) =>
        `Daten unvollständig, bisher ${count(newLeads)} neu und ${count(won)} gewonnen`,
      noData: (since) => (since ? `keine Daten seit ${since}` : 'noch keine Daten'),
      empty: 'noch keine Leads',
      beforeAll: 'aus dieser Zeit keine Leads bekannt',
    },

    headline: {
      counts: (newLeads, won) =>
        `${newLeads === 0 ? 'Keine neuen Leads' : plural(newLeads, 'neuer Lead', 'neue Leads')} und ${won === 0 ? 'keiner' : count(won)} gewonnen`,
      better: (counts, than, newLeads, won) => `${counts}: besser als ${than} (${newLeads} und ${won}).`,
      slower: (counts, than, newLeads, won) => `${counts}: schwächer als ${than} (${newLeads} und ${won}).`,
      beside: (counts, before, newLeads, won) => `${counts} (${before}: ${newLeads} und ${won}).`,
      first: (counts) => `${counts}.`,
      firstDetail: 'Das sind die ersten Zahlen; einen Vergleich gibt es noch nicht.',
      quiet: ({ shape, name }: PeriodNames) =>
        `${{ day: `Ein ruhiger ${name}`, days: 'Ruhige Tage', week: 'Eine ruhige Woche', month: `Ein ruhiger ${name}` }[shape]}: keine neuen Leads, nichts gewonnen.`,
      quietBefore: (before, newLeads, won) =>
        `${before.charAt(0).toUpperCase()}${before.slice(1)} brachte ${newLeads === 0 ? 'keine neuen Leads' : plural(newLeads, 'neuen Lead', 'neue Leads')} und ${won === 0 ? 'keinen Abschluss' : plural(won, 'Abschluss', 'Abschlüsse')}.`,
      incomplete: (newLeads, won) =>
        `Unvollständig: mindestens ${plural(newLeads, 'neuer Lead', 'neue Leads')} und ${count(won)} gewonnen.`,
      noData: (since) =>
        since
          ? `Keine Daten für diese Zeit: Der letzte vollständige Abgleich war ${since}.`
          : 'Noch keine Daten.',
      empty: 'Noch keine Leads: Der Dienst hat keine gemeldet.',
      beforeAll: 'Aus dieser Zeit ist kein Lead bekannt: Die es gibt, kamen später.',
      emptyFilter: 'Keine Leads: Keiner erfüllt die Bedingungen dieses Berichts.',
      allWell: 'Nichts braucht Aufmerksamkeit.',
    },

    freshness: {
      fresh: (at, age) => `Datenstand ${at}, ${age} vor diesem Bericht.`,
      coveredThenFailed: (at) => `Datenstand ${at}; das deckt diesen Bericht ganz ab.`,
      ends: (at, age) => `Die Daten enden ${at}, ${age} vor diesem Bericht; was danach kam, fehlt unten.`,
      before: (at, age) =>
        `Die Daten sind von ${at}, ${age} vor diesem Bericht; alles unten zeigt den Stand jener Zeit.`,
      never: 'Noch kein Abgleich hat alles gelesen.',
      failed: (at, reason) => `Der Abgleich von ${at} kam nicht zu Ende: ${reason}.`,
      reasons: {
        unreachable: 'Der Dienst war nicht erreichbar oder meldete Fehler',
        refused: 'Der Dienst hat unseren Schlüssel nicht angenommen',
        deferred: 'Der Dienst bat, eine Weile nicht gefragt zu werden',
        unexpected: 'Der Dienst gab eine Antwort, die nicht zu lesen war',
        stopped: 'Er wurde mittendrin abgebrochen',
        other: 'Bei uns gab es eine Störung',
      },
      oldStats: (at) => `Die eigene Statistik des Dienstes ist von ${at}, vor dem Ende dieses Berichts.`,
      oldAgents: (at) => `Die Agenten sind auf dem Stand von ${at}, vor dem Ende dieses Berichts.`,
    },

    banner: {
      title: 'Bitte beachten',
      stale: 'Alte Daten',
      unusual: 'Auffällige Daten',
      scope: (leads, before) =>
        `Dieser Bericht umfasst ${leads === 0 ? 'keine Leads' : plural(leads, 'Lead', 'Leads')}, der letzte umfasste ${count(before)}. Bitte prüfen, ob das stimmt, bevor die Zahlen verwendet werden.`,
      scan: (leads, before) =>
        `Beim letzten vollständigen Lesen nannte der Dienst ${leads === 0 ? 'keine Leads' : plural(leads, 'Lead', 'Leads')}, beim Mal davor ${count(before)}. Bitte den Dienst prüfen, bevor die Zahlen verwendet werden.`,
      removal: (met, of) =>
        `Beim letzten vollständigen Lesen nannte der Dienst nur ${count(met)} von ${count(of)} Leads. Dass die anderen fehlen, gilt als Fehler; sie sind hier noch mitgezählt.`,
      created: 'angelegt wurden',
      changed: 'ihren Status änderten',
      times: (what) =>
        `Die Zeiten, zu denen Leads ${what}, können nicht stimmen; was danach gezählt wird, ist fraglich.`,
      failed: (n, names) =>
        `${n === 1 ? 'Ein Teil dieses Berichts konnte' : `${count(n)} Teile dieses Berichts konnten`} nicht erstellt werden: ${names}.`,
      notMade: (names) => `Nicht angehängt, weil es nicht erstellt werden konnte: ${names}.`,
      late: {
        down: (from, to) => `Verspätet: leadsheet lief von ${from} bis ${to} nicht.`,
        blocked: (from, to) => `Verspätet: leadsheet war von ${from} bis ${to} mit anderem beschäftigt.`,
        clock: (from, to) => `Verspätet: Die Uhr des Rechners wurde umgestellt, von ${from} auf ${to}.`,
        waited: (from, to) => `Verspätet: Der Bericht musste von ${from} bis ${to} warten.`,
      },
      resend: (at, first, reason) =>
        `Erneut gesendet (${at}), anstelle der Mail von ${first}${reason ? `: ${reason}` : '.'}`,
    },

    failed: {
      note: 'Dieser Teil konnte nicht erstellt werden; der übrige Bericht ist davon nicht betroffen.',
      reason: (text) => `Grund: ${text}`,
      charts: 'Die Diagramme konnten nicht erstellt werden; die Zahlen sind davon nicht betroffen.',
      headline: 'Überschrift',
      freshness: 'Datenstand',
      kpis: 'Linien unter den Zahlen',
      queries: 'Tabellen dieses Berichts',
    },

    attention: {
      title: 'Braucht Aufmerksamkeit',
      failing: (name, since, error) =>
        `${name} ist ${since ? `seit ${since} ` : ''}gestört${error ? ` (${error})` : ''}.`,
      moreFailing: (n) => `${plural(n, 'weiterer Agent ist', 'weitere Agenten sind')} gestört.`,
      stalled: (n, idleDays, company, idle) =>
        `${plural(n, 'Lead steht', 'Leads stehen')} seit mindestens ${daysDative(idleDays)} still${
          company ? `, am längsten ${company}: ${idle}.` : '.'
        }`,
      held: (n) =>
        `${records(n)} des Dienstes ${n === 1 ? 'war' : 'waren'} nicht lesbar und ${n === 1 ? 'fehlt' : 'fehlen'} hier.`,
    },

    kpi: {
      newLeads: 'Neue Leads',
      won: 'Gewonnen',
      winRate: 'Abschlussquote',
      openValue: 'Offene Pipeline',
      inAll: (n) => `von ${plural(n, 'Lead', 'Leads')}`,
      worth: (value) => `Wert ${value}`,
      wonOfClosed: (counts) => `${counts} in 30 T.`,
      closedWon: 'der beendeten gewonnen',
      noneClosed: 'keine beendet',
      noValues: 'ohne Wertangabe',
      nothing: 'nichts',
      valueThen: (known) => `damaliger Wert ${known}`,
      soFar: 'bisher',
      doubtful: 'Zeit fraglich',
      soFarWorth: (value) => `bisher, Wert ${value}`,
      basis: (value, when) => `ggü. ${value} ${when}`,
      range: (low, high, n, kind) =>
        `${low} bis ${high} in ${kind === 'week' ? plural(n, 'Woche', 'Wochen') : kind === 'month' ? plural(n, 'Monat', 'Monaten') : daysDative(n)}`,
    },

    trend: {
      title: 'Neue und gewonnene Leads pro Tag',
      note: (n) => `Die letzten ${days(n)}`,
      ofLines: 'die dicke Linie ist das Mittel aus 7 Tagen',
      newLeads: (mean) => `Neu ${mean}`,
      won: (mean) => `Gew. ${mean}`,
      week: (end) => (end === null ? 'In den letzten 7 Tagen' : `In den 7 Tagen bis ${end}`),
      finding: (week, newLeads, won, from, newBefore, wonBefore) =>
        `${week} im Mittel ${newLeads} neue Leads und ${won} Abschlüsse pro Tag; in den 7 Tagen bis ${from} waren es ${newBefore} und ${wonBefore}.`,
      short: (week, newLeads, won) =>
        `${week} im Mittel ${newLeads} neue Leads und ${won} Abschlüsse pro Tag.`,
      empty: 'Für einen Verlauf sind es noch zu wenige Tage.',
    },

    known: (known, of) => `bekannt für ${count(known)} von ${plural(of, 'Lead', 'Leads')}`,
    notShown: (what, known) =>
      [what === null ? 'Nicht gezeigt' : `${what}: nicht gezeigt`, known].filter(Boolean).join(', '),

    funnel: {
      title: 'Trichter',
      stage: 'Stufe',
      reached: 'Erreicht',
      conversion: 'Anteil',
      inStage: 'Dauer',
      medianDays: (value) => `${value} T.`,
      ofService: (asOf) =>
        `Gesamte Zeit, wie der Dienst zählt · Stand ${asOf} · Dauer: Median der letzten 90 Tage`,
      ofOurs: (asOf) =>
        `Gesamte Zeit, nach der höchsten Stufe · Stand ${asOf} · Dauer: Median der letzten 90 Tage`,
      empty: 'Vom Dienst wurden noch keine Statistiken gelesen.',
    },

    changes: {
      title: 'Was sich bewegt hat',
      since: (at) => `Seit ${at}`,
      kinds: changes,
      total: (n, value) => `${count(n)}${value ? ` · ${value}` : ''}`,
      move: (from, to) => `${from} → ${to}`,
      empty: (at) => `Seit ${at} hat sich kein Lead bewegt.`,
    },

    topLeads: {
      title: 'Neue Top-Leads',
      lead: 'Lead',
      score: 'Score',
      some: (shown, total, score) =>
        `Die besten ${count(shown)} von ${count(total)} neuen Leads mit einem Score ab ${score}`,
      all: (total, score) => `${plural(total, 'neuer Lead', 'neue Leads')} mit einem Score ab ${score}`,
      empty: (score) => `Kein neuer Lead erreicht einen Score von ${score}.`,
      unread: 'Aus dieser Zeit wurde noch nichts gelesen.',
    },

    stalled: {
      title: 'Leads ohne Bewegung',
      lead: 'Lead',
      stage: 'Stufe',
      idle: 'Ruht seit',
      some: (idleDays) => `Seit mindestens ${daysDative(idleDays)} unbewegt, die längsten zuerst`,
      unread: 'Es wurden noch keine Leads gelesen.',
      empty: (idleDays) => `Jeder offene Lead hat sich in den letzten ${daysDative(idleDays)} bewegt.`,
    },

    pipelines: {
      title: 'Pipelines',
      note: (against) => `Veränderung ${against}`,
      noteBehind: (against) => `Veränderung ${against}`,
      mostNew: (shown, total, shape: PeriodShape) =>
        `Die ${count(shown)} mit den meisten neuen Leads ${{ day: 'dieses Tages', days: 'dieser Tage', week: 'dieser Woche', month: 'dieses Monats' }[shape]}, von ${count(total)}`,
      mostLeads: (shown, total) => `Die ${count(shown)} mit den meisten Leads, von ${count(total)}`,
      noteWithout: 'Nach Namen geordnet',
      pipeline: 'Pipeline',
      newLeads: 'Neu',
      won: 'Gew.',
      winRate: 'Quote',
      open: (value) => `${value} offen`,
      stalled: (n) => `${count(n)} ohne Bewegung`,
      empty: 'Es wurden noch keine Pipelines gelesen.',
    },

    sources: {
      title: 'Quellen',
      note: (against) => `Die meisten neuen Leads zuerst; Veränderung ${against}`,
      noteWithout: 'Die meisten neuen Leads zuerst',
      source: 'Quelle',
      unknown: 'Ohne Angabe',
      empty: 'Die Leads nennen keine Quellen.',
    },

    agents: {
      title: 'Agenten',
      allHealthy: (n) => (n === 1 ? 'Der eine Agent arbeitet ungestört' : `Alle ${count(n)} ungestört`),
      someHealthy: (well, total) => `${count(well)} von ${count(total)} ungestört`,
      state: (status) => status.charAt(0).toLowerCase() + status.slice(1),
      all: (state) => `alle ${state}`,
      asOf: (at) => `Stand ${at}`,
      since: (at) => `seit ${at}`,
      lastSeen: (at) => `zuletzt gesehen ${at}`,
      errors: (n) => `${plural(n, 'Fehler', 'Fehler')} in 24 Std.`,
      outage: (name, from, to, hours) =>
        to
          ? `${name} war von ${from} bis ${to} gestört (${hours}\u00a0Std.).`
          : `${name} ist seit ${from} gestört (${hours}\u00a0Std.).`,
      moreOutages: (n) => `und ${plural(n, 'weitere Störung', 'weitere Störungen')}`,
      ofLater: (at) => `Wie es ihnen damals ging, ist nicht bekannt; zuletzt gelesen wurden sie ${at}.`,
      empty: 'Vom Dienst wurden noch keine Agenten gelesen.',
    },

    serviceStats: {
      title: 'Statistik des Dienstes',
      note: 'Wo der Dienst anders zählt als wir',
      figure: 'Kennzahl',
      ours: 'Wir',
      upstream: 'Dienst',
      figures,
      ofLater: (at) => `Stand ${at}, nicht aus diesem Zeitraum`,
      agree: 'Der Dienst zählt dasselbe wie wir.',
    },

    dataQuality: {
      resources: { lead: 'Leads', agent: 'Agenten', pipeline_stat: 'Statistiken', activity: 'Aktivitäten' },
      title: 'Datenqualität',
      held: (n, resource, reason) => `${records(n)} (${resource}) zurückgehalten: ${reason}`,
      appeared: (path, at) => `Das Feld ${path} ist seit ${at} neu.`,
      vanished: (path, at) => `Das Feld ${path} fehlt seit ${at}.`,
      retyped: (path, at) => `Das Feld ${path} hat seit ${at} einen anderen Typ.`,
      incomplete: (at) => `Das Lesen von ${at} kam nicht ans Ende der Liste.`,
      unproven: (at) => `Die Liste der Leads stand beim Lesen um ${at} nicht still.`,
      more: (n) => `und ${count(n)} weitere`,
      good: 'Jeder Datensatz war lesbar, kein Feld kam hinzu oder fiel weg.',
    },

    query: {
      empty: 'Keine Zeilen.',
      cut: (shown) => `Die ersten ${count(shown)} Zeilen`,
    },

    more: {
      some: (n) => `und ${plural(n, 'weiterer Eintrag', 'weitere Einträge')}`,
      inFile: (n, file) =>
        `und ${plural(n, 'weiterer Eintrag', 'weitere Einträge')} in der angehängten Datei ${file}`,
      partInFile: (n, held, file) =>
        `und ${plural(n, 'weiterer Eintrag', 'weitere Einträge')}, davon ${count(held)} in der angehängten Datei ${file}`,
    },

    lists: {
      company: 'Unternehmen',
      pipeline: 'Pipeline',
      stage: 'Stufe',
      idleDays: 'Tage ohne Änderung',
      score: 'Score',
      value: 'Wert',
      currency: 'Währung',
      contact: 'Kontakt',
      contactTitle: 'Funktion',
      country: 'Land',
      domain: 'Website',
      about: 'Beschreibung',
      source: 'Quelle',
      createdAt: 'Angelegt',
      changedAt: 'Zuletzt geändert',
      id: 'ID',
      link: 'Link',
      change: 'Änderung',
      fromStage: 'Von Stufe',
      toStage: 'Zu Stufe',
      at: 'Zeitpunkt',
      leads: 'Leads',
      newLeads: 'Neu',
      won: 'Gewonnen',
      of: (figure, period) => `${figure}, ${period}`,
      winRate: 'Abschlussquote, 30 Tage (%)',
      closed: 'Gewonnen oder verloren, 30 Tage',
      openValue: (currency) => `Offene Pipeline, ${currency || 'ohne Währung'}`,
      stalled: (idleDays) => `${days(idleDays)} oder länger ohne Bewegung`,
      inZone: (heading, zone) => `${heading} (${zone})`,
    },

    files: {
      leftOut: (name, megabytes) =>
        `${name} (${megabytes} MB) ist nicht angehängt: Die Mail würde zu groß. Die Datei liegt im Archiv.`,
    },

    footer: {
      leads: (n) => `${plural(n, 'Lead', 'Leads')} im Umfang dieses Berichts`,
      dataAsOf: (at) => (at ? `Datenstand ${at}` : 'Noch kein vollständiger Abgleich'),
      run: (id, requests) =>
        `vollständiger Abgleich ${id}${requests === null ? '' : ` (${plural(requests, 'Anfrage', 'Anfragen')})`}`,
      zone: (name) => `Zeiten in ${name}`,
      recipient: (address, title) => `Gesendet an ${address} als Empfänger von „${title}“.`,
      unsubscribe: 'Abbestellen',
      change: 'Pausieren, ändern oder abbestellen',
    },
  }
}
