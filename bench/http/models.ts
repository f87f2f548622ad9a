/** Responses of the API: the peers respond with the same values. */
import type { Models } from './records.ts'
import type { BenchRequest, Kind, Scenario } from './scenarios.ts'
import type { Server } from './start.ts'

/** The API's responses to one request of each kind. */
export async function modelsOf(server: Server, scenarios: readonly Scenario[]): Promise<Models> {
  const found: Partial<Record<Kind, string>> = {}
  for (const { kind, request } of scenarios) {
    const { method, path, headers, body }: BenchRequest = request(server)
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers, ...(body ? { body } : {}) })
    found[kind] ??= await response.text()
  }
  return { byId: '', list: '', shortList: '', post: '', ...found }
}
