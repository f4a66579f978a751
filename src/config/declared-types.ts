/**
 * The fields that the profile declares, for filters. The profile itself is checked when it is needed, so a field
 * with a mistake is left out here.
 */
import { FILTER_COLUMNS } from '../domain/choices.ts'
import { type DeclaredType, FIELD_TYPES, filterKindOf } from '../domain/declared-fields.ts'
import { nearest, type SettingPath, valueAt } from './setting-path.ts'
import type { ProfileData } from './settings-file.ts'

export type DeclaredTypes = ReadonlyMap<string, DeclaredType>

export function declaredTypesOf(profile: Pick<ProfileData, 'data'> | null): DeclaredTypes {
  const declared = Object.entries(Object(valueAt(profile?.data, ['fields'])))
  return new Map(
    declared.flatMap(([name, rule]): [string, DeclaredType][] => {
      const given = typeof rule === 'string' ? 'text' : (valueAt(rule, ['type']) ?? 'text')
      const type = FIELD_TYPES.find((each) => each === given)
      return type === undefined ? [] : [[name, type]]
    }),
  )
}

/** Says why leads cannot be chosen by this; null if they can. Values of columns of leads are not checked here. */
export function filterFault(name: string, types: DeclaredTypes, value?: unknown): string | null {
  const type = types.get(name)
  if (Object.hasOwn(FILTER_COLUMNS, name) || name === 'pipelines') return null
  if (type !== undefined) {
    const kind = filterKindOf(type)
    if (kind === null) return `a filter cannot ask for a field of the type ${type}`
    if (value === undefined || Array.isArray(value) === (kind === 'text')) return null
    return `expected ${kind === 'text' ? 'a list of texts' : 'min, max or both'}, as its type in the profile is ${type}`
  }
  const known = [
    ...Object.keys(FILTER_COLUMNS),
    ...[...types].flatMap(([field, its]) => (filterKindOf(its) === null ? [] : [field])),
  ]
  const meant = nearest(name, known)
  return `no column of leads, and no field of the profile; ${
    meant === null ? `known: ${known.join(', ')}` : `did you mean ${meant}?`
  }`
}

/** Yields the place of each condition in the filters of reports and recipients, with its value. */
export function* conditionsIn(tree: unknown): Generator<{ path: SettingPath; value: unknown }> {
  const groups = (path: SettingPath): SettingPath[] => {
    const list = valueAt(tree, path)
    return Array.isArray(list) ? list.map((_, index) => [...path, index]) : []
  }
  const reports = groups(['reports'])
  const recipients = [[], ...reports].flatMap((report) => groups([...report, 'recipients']))
  for (const group of [...reports, ...recipients]) {
    const filter = [...group, 'filter']
    for (const [name, value] of Object.entries(Object(valueAt(tree, filter))))
      yield { path: [...filter, name], value }
  }
}
