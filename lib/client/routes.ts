/** The operations, as the client calls them. */
import { idsIn, methodName } from './names.ts'
import { table } from './table.ts'

/** An operation, without its schemas. */
export interface ClientRoute {
  readonly id: string
  readonly method: string
  /** Below the network, with `:name` for an id and with the trailing slash of the interface (interface.md, 1.3). */
  readonly path: string
  /** The names of the ids in the path, in order. */
  readonly params: readonly string[]
  /** `['posts', 'reactions', 'list']`. */
  readonly name: readonly string[]
  readonly takesBody: boolean
  readonly takesQuery: boolean
  /** Responds with a page. Only those of GET are followed to the next one. */
  readonly isList: boolean
  /** A 409 is the state of a record, which another try does not change. */
  readonly conflictStays: boolean
}

function readLine(line: string): ClientRoute {
  const [id = '', method = '', path = '', ...traits] = line.split(' ')
  return {
    id,
    method,
    path,
    params: idsIn(path),
    name: methodName(id, path),
    takesBody: traits.includes('body'),
    takesQuery: traits.includes('query') || (traits.includes('list') && method === 'GET'),
    isList: traits.includes('list'),
    conflictStays: traits.includes('409'),
  }
}

/** The request for a preview, which is no operation. */
export const previewRoute = readLine('previews.create POST /previews body 409')

/** Every operation under each of its methods. */
export const routes: readonly ClientRoute[] = table.trim().split('\n').map(readLine)
