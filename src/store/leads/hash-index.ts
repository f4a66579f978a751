/**
 * An index in memory from 64-bit hashes to the numbers of leads, about 16 bytes a lead: open addressing over typed
 * arrays. A lead has one hash at a time; what it had before no longer finds it.
 */

/** Slots a lead, at least: fuller, and searches get long. */
const SLOTS_A_LEAD = 1.5
const SLOTS_MIN = 1024

export interface NumberIndex {
  /** The number of the lead with this hash; null where there is none. */
  find(high: number, low: number): number | null
  /** Gives a lead its hash, in place of any before. Numbers are dense, from 1. */
  set(no: number, high: number, low: number): void
  forget(no: number): void
}

/** @param leads how many to make room for; it grows beyond */
export function createNumberIndex(leads = 0): NumberIndex {
  let slots = new Uint32Array(slotsFor(leads))
  let used = 0
  // By number. Both halves 0 stand for no hash, which so is never found.
  let highs = new Uint32Array(leads + 1)
  let lows = new Uint32Array(leads + 1)

  /** The slot of this hash, or the empty one where it would go. */
  function slotOf(high: number, low: number): number {
    const mask = slots.length - 1
    for (let slot = (low ^ high) & mask; ; slot = (slot + 1) & mask) {
      const no = slots[slot] ?? 0
      if (no === 0 || (highs[no] === high && lows[no] === low)) return slot
    }
  }

  function widen(): void {
    const before = slots
    slots = new Uint32Array(slots.length * 2)
    used = 0
    for (const no of before) {
      if (no === 0) continue
      const slot = slotOf(highs[no] ?? 0, lows[no] ?? 0)
      if (slots[slot] === 0) used++
      slots[slot] = no
    }
  }

  return {
    find(high, low) {
      const no = slots[slotOf(high, low)] ?? 0
      return no === 0 || (high === 0 && low === 0) ? null : no
    },
    set(no, high, low) {
      if (no >= highs.length) {
        highs = grown(highs, no)
        lows = grown(lows, no)
      }
      highs[no] = high
      lows[no] = low
      if ((used + 1) * SLOTS_A_LEAD > slots.length) widen()
      const slot = slotOf(high, low)
      if (slots[slot] === 0) used++
      slots[slot] = no
    },
    forget(no) {
      if (no >= highs.length) return
      highs[no] = 0
      lows[no] = 0
    },
  }
}

function slotsFor(leads: number): number {
  return Math.max(SLOTS_MIN, 2 ** Math.ceil(Math.log2((leads + 1) * SLOTS_A_LEAD)))
}

function grown(array: Uint32Array<ArrayBuffer>, no: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.ceil(no * 1.5) + 1)
  larger.set(array)
  return larger
}
