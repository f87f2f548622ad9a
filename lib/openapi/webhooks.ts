/** The OpenAPI 3.1 document of the webhooks, made from the catalogue of events. */
import { catalogue, eventDescription, fieldsOfUpdate, type WebhookName } from '../events/catalogue.ts'
import type { JsonSchema } from '../fields.ts'
import { changedHeader } from '../outbox/headers.ts'
import { type Document, info, json } from './parts.ts'
import { type SchemaSettings, schemaWriter } from './schema.ts'

/** Every event that a receiver may get. */
export function webhooksDocument(settings: SchemaSettings): Document {
  const writer = schemaWriter(settings)
  const webhooks = Object.fromEntries(
    Object.entries(catalogue).map(([name, payload]) => [
      `${name}Hook`,
      { post: describeWebhook(name as WebhookName, writer.of(payload)) },
    ]),
  )
  return {
    openapi: '3.1.1',
    info: {
      ...info,
      title: 'Community Network Webhooks',
      description: 'The requests that a webhook endpoint of a community network receives.',
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'webhooks', description: 'Deliveries, at least once; any 2xx acknowledges.' }],
    webhooks,
    components: {
      securitySchemes: {
        webhookToken: { type: 'http', scheme: 'bearer', description: 'The token of the endpoint, as registered.' },
      },
      schemas: writer.components,
    },
  }
}

const changed = {
  name: changedHeader,
  in: 'header',
  description: 'The names of the public fields that changed, with commas between them.',
  schema: { type: 'string', example: 'title,description' },
  'x-extension': true,
}

const describeWebhook = (name: WebhookName, payload: JsonSchema) => ({
  operationId: `${name}Hook`,
  summary: `Delivers ${name}Hook.`,
  description: eventDescription(name),
  tags: ['webhooks'],
  security: [{ webhookToken: [] }],
  ...(fieldsOfUpdate(name).length > 0 ? { parameters: [changed] } : {}),
  requestBody: {
    required: true,
    content: json({
      type: 'object',
      required: ['event_id', 'event_timestamp', 'event_type', 'payload'],
      properties: {
        event_id: { type: 'string', format: 'uuid', description: 'The same on every attempt.' },
        event_timestamp: { type: 'string', format: 'date-time', description: 'When it happened, in UTC.' },
        event_type: { type: 'string', const: `${name}Hook`, description: 'What happened.' },
        payload: { ...payload, description: 'The record that it is about.' },
      },
    }),
  },
  responses: {
    '2XX': { description: 'Delivered.' },
    '4XX': { description: 'Not delivered; retried later, except for 410, which disables the endpoint.' },
    '5XX': { description: 'Not delivered; retried later.' },
  },
})
