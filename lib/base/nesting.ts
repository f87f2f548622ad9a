/** How many levels of lists and objects a value may have. No record has more than a handful. */
export const maxLevels = 64

/** Whether a value that came as JSON is nested deeper than that. It goes level by level, so no depth is too much for it. */
export function isDeep(value: unknown): boolean {
  let level = [value].filter(isObject)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === maxLevels) return true
    const below: object[] = []
    for (const each of level) for (const inner of Object.values(each)) if (isObject(inner)) below.push(inner)
    level = below
  }
  return false
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
