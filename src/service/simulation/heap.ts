/** A binary heap: what comes first, without sorting what comes later. */

export interface Heap<T> {
  push(item: T): void
  /** Takes the first item out; undefined when empty. */
  pop(): T | undefined
}

export function createHeap<T>(compare: (a: T, b: T) => number): Heap<T> {
  const items: T[] = []
  const isBefore = (a: number, b: number): boolean => compare(items[a] as T, items[b] as T) < 0
  const swap = (a: number, b: number): void => {
    const kept = items[a] as T
    items[a] = items[b] as T
    items[b] = kept
  }
  return {
    push: (item) => {
      items.push(item)
      for (let at = items.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1
        if (!isBefore(at, parent)) return
        swap(at, parent)
        at = parent
      }
    },
    pop: () => {
      if (items.length > 1) swap(0, items.length - 1)
      const first = items.pop()
      for (let at = 0; ; ) {
        let least = at
        for (const child of [2 * at + 1, 2 * at + 2]) {
          if (child < items.length && isBefore(child, least)) least = child
        }
        if (least === at) return first
        swap(at, least)
        at = least
      }
    },
  }
}
