import { expect, it } from 'vitest'
import { meansOfWeek } from '../../../src/report/charts/mean.ts'

it('is that of a day and the six before', () => {
  expect(meansOfWeek([1, 2, 3, 4, 5, 6, 7, 15])).toEqual([null, null, null, null, null, null, 4, 6])
})

it('is not known while one of the seven is missing', () => {
  const counts = [7, 7, 7, 7, 7, 7, 7, null, 7, 7, 7, 7, 7, 7, 7, 7]
  const means = meansOfWeek(counts)
  expect(means.slice(6, 8)).toEqual([7, null])
  expect(means.slice(8)).toEqual([null, null, null, null, null, null, 7, 7])
})

it('is nothing of nothing', () => {
  expect(meansOfWeek([])).toEqual([])
})
