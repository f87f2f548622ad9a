/**
 * The vocabulary of requests and records. Each field is a Valibot schema with the JSON Schema that publishes it, so that
 * validation and documentation cannot drift apart.
 */
export * from './fields/published.ts'
export * from './fields/records.ts'
export * from './fields/requests.ts'
export * from './fields/times.ts'
