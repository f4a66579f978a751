/** All figures for several scopes, from one moment of the store, though a sync may be writing meanwhile. */
import type { Db } from '../open.ts'
import { giveChosen } from './chosen-leads.ts'
import { FIGURES, type FigureName } from './definition.ts'
import { atOneMoment } from './moment.ts'
import { type FigureRow, type FigureScope, readFigureAt } from './query.ts'

export type Figures = ReadonlyMap<FigureName, readonly FigureRow[]>

/** In the order of the scopes. */
export async function readFigures(db: Db, scopes: readonly FigureScope[]): Promise<Figures[]> {
  return atOneMoment(db, async (moment) => {
    const all: Figures[] = []
    for (const scope of scopes) {
      const figures = new Map<FigureName, FigureRow[]>()
      const chosen = await giveChosen(moment, scope)
      for (const { name } of FIGURES) figures.set(name, await readFigureAt(chosen, name, scope))
      all.push(figures)
    }
    return all
  })
}

/** The pipelines that there are, in order of name. */
export async function listPipelines(db: Db): Promise<{ id: string; name: string }[]> {
  return db.selectFrom('pipeline').select(['id', 'name']).orderBy('name').orderBy('id').execute()
}
