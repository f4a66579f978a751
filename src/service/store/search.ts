/** The text that `q` searches: one folding for what is stored and for what is asked. */

/** Lower case without accents, so that `Zoe` finds `Zoë`. */
export function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** Names and addresses of company and contact in one folded text. */
export function searchText(lead: {
  readonly company_name: string
  readonly company_domain: string | null
  readonly contact_name: string | null
  readonly contact_email: string | null
}): string {
  const { company_name, company_domain, contact_name, contact_email } = lead
  return fold([company_name, company_domain, contact_name, contact_email].filter(Boolean).join('\n'))
}
