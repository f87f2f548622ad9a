import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The bytes of the heap that are in use. */
export function heapInUse(): number {
  collect()
  return process.memoryUsage().heapUsed
}
