/** Finds the parts of a profile that would overwrite a parameter of the list's address. */
import type { Profile } from './profile.ts'

/** A part of the profile that sets a parameter which the address of the list has already. */
export interface Overwritten {
  readonly path: readonly string[]
  readonly param: string
  /** The parameter with its value in the address, such as `status=lead`. */
  readonly found: string
}

/**
 * Lists the parts of a profile that would overwrite or repeat a parameter of the list's address, because the
 * upstream would then give other records. The text of a filter may contain the value of the address, and so
 * combine both.
 * @param list the address of the list, as `api.url` and the profile give it
 */
export function listOverwritten(
  { request, paging, filters, sort }: Pick<Profile, 'request' | 'paging' | 'filters' | 'sort'>,
  list: URL,
): Overwritten[] {
  // The parameters of a list by POST are in its body.
  if (request !== undefined) return []
  const set: (readonly [path: readonly string[], param: string | undefined, value?: string])[] = [
    [['paging', 'param'], 'param' in paging ? paging.param : undefined],
    [['paging', 'size_param'], 'size_param' in paging ? paging.size_param : undefined],
    ...Object.keys(sort).map((param) => [['sort', param], param] as const),
    ...(['updated_since', 'created_since'] as const).flatMap((name) => {
      const filter = filters[name]
      const text = typeof filter?.value === 'string' ? filter.value : JSON.stringify(filter?.value)
      return filter?.in === 'query' ? [[['filters', name, 'value'], filter.param, text] as const] : []
    }),
    ...(['pipeline', 'status', 'min_score', 'q'] as const).map(
      (name) => [['filters', name], filters[name]] as const,
    ),
  ]
  return set.flatMap(([path, param, value]): Overwritten[] => {
    const fixed = param === undefined ? null : list.searchParams.get(param)
    if (param === undefined || fixed === null || (fixed !== '' && value?.includes(fixed))) return []
    return [{ path, param, found: `${param}=${fixed}` }]
  })
}
