/**
 * Reads all figures of several scopes from one consistent read of the database, although a sync may be
 * writing meanwhile.
 */
import type { HistoryCoverage } from '../../domain/figures.ts'
import type { Db } from '../db/store.ts'
import { readCoverage } from './coverage.ts'
import { type CoverageName, FIGURES, type FigureName } from './definition.ts'
import { giveChosen } from './filtered-leads.ts'
import { type FigureRow, type FigureScope, readFigureAt } from './query.ts'
import { atOneMoment } from './read-transaction.ts'

/** The coverage of each figure that depends on the history of leads. */
export type Coverages = ReadonlyMap<FigureName, HistoryCoverage>

export type Figures = ReadonlyMap<FigureName, readonly FigureRow[]>

/** Reads the figures of each scope, in the order of the scopes. */
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

/** Reads the coverages of the figures that depend on the history of leads, in the order of the scopes. */
export async function readCoverages(db: Db, scopes: readonly FigureScope[]): Promise<Coverages[]> {
  return atOneMoment(db, async (moment) => {
    const all: Coverages[] = []
    for (const scope of scopes) {
      const coverages = new Map<FigureName, HistoryCoverage>()
      const chosen = await giveChosen(moment, scope)
      const read = new Map<CoverageName, HistoryCoverage>()
      for (const { name, coverage } of FIGURES) {
        if (coverage === null) continue
        const known = read.get(coverage) ?? (await readCoverage(chosen, coverage, scope))
        read.set(coverage, known)
        coverages.set(name, known)
      }
      all.push(coverages)
    }
    return all
  })
}

/** Lists all pipelines in order of name. */
export async function listPipelines(db: Db): Promise<{ id: string; name: string }[]> {
  return db.selectFrom('pipeline').select(['id', 'name']).orderBy('name').orderBy('id').execute()
}
