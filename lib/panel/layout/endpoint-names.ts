/** Names of endpoints that distinguish them, on pages that list more than one. */
import type { Endpoint } from '../../host/endpoints/endpoint.ts'

/** The name that a person gave, or the host of the address. */
export const nameOf = ({ name, url }: Endpoint): string => name ?? new URL(url).host

const withPath = (endpoint: Endpoint): string => {
  const { host, pathname } = new URL(endpoint.url)
  return endpoint.name === null ? `${host}${pathname}` : `${endpoint.name} (${host}${pathname})`
}

const withId = (endpoint: Endpoint): string => `${nameOf(endpoint)} (${endpoint.id})`

/** The name of each endpoint by its id. Where two would be the same, they also show the path, or else the id. */
export function endpointNames(endpoints: readonly Endpoint[]): (id: string) => string {
  const names = new Map<string, string>()
  let left = endpoints
  for (const label of [nameOf, withPath, withId]) {
    const counts = new Map<string, number>()
    for (const endpoint of left) counts.set(label(endpoint), (counts.get(label(endpoint)) ?? 0) + 1)
    const isShared = (endpoint: Endpoint) => label !== withId && (counts.get(label(endpoint)) ?? 0) > 1
    for (const endpoint of left) if (!isShared(endpoint)) names.set(endpoint.id, label(endpoint))
    left = left.filter(isShared)
  }
  return (id) => names.get(id) ?? `endpoint ${id}`
}
