/** The relay's log: one line per attempt, never a key, a body, or an endpoint's URL, whose query may hold a secret. */
import { type DestinationStream, type Logger, pino } from 'pino'
import { plain, unobeyed } from '../../json.ts'
import type { RelayEvents } from '../events.ts'

export interface Log extends RelayEvents {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** @param json one JSON object per line, else lines for people */
export function createLog(destination: DestinationStream, json: boolean): Log {
  const logger: Logger = pino(
    {
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // A second net; nothing that goes by these names is handed to it.
      redact: {
        paths: [
          'key',
          'secrets',
          'old_keys',
          'old_secrets',
          'headers',
          'body',
          'url',
          '*.key',
          '*.secrets',
          '*.old_keys',
          '*.old_secrets',
          '*.headers',
          '*.body',
          '*.url',
        ],
        remove: true,
      },
    },
    { write: (line) => void destination.write(json ? `${unobeyed(line.trimEnd())}\n` : forPeople(line)) },
  )
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    onAttempt(report) {
      if (report.state === 'delivered') logger.info(report, 'delivery.attempted')
      else logger.warn(report, 'delivery.attempted')
    },
    onNotice: (notice) => logger.warn(notice, 'notice'),
    onFault(what, error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      logger.error({ what, reason }, 'fault')
    },
    onIngested: (counts) => logger.debug(counts, 'outbox.ingested'),
  }
}

type Fields = Readonly<Record<string, unknown>>

function forPeople(line: string): string {
  const fields = JSON.parse(line) as Fields
  const time = String(fields['time']).slice(11, 19)
  return `${time}  ${plain(sentence(fields))}\n`
}

function sentence(fields: Fields): string {
  const text = (name: string): string => String(fields[name])
  switch (fields['message']) {
    case 'delivery.attempted': {
      const what = `${text('event_type')} ${text('event_id')} → endpoint ${text('endpoint_id')}`
      const how = `${text('status') === 'null' ? text('reason') : text('status')}, ${text('milliseconds')} ms, attempt ${text('attempt')}${fields['repeated'] ? ', repeated on a new connection' : ''}`
      if (fields['state'] === 'delivered') return `delivered  ${what}  (${how})`
      if (fields['state'] === 'dead') return `dead       ${what}  (${text('outcome')}: ${how}; no attempts left)`
      // While the circuit is open, its probes decide when it is sent again.
      if (fields['outcome'] === 'proxy_failed') return `failed     ${what}  (${how}; it waits for the proxy)`
      const next = text('breaker') === 'closed' ? `again at ${text('next_at').slice(11, 19)}` : 'it waits for the circuit'
      return `failed     ${what}  (${text('outcome')}: ${how}; ${next}, circuit ${text('breaker')})`
    }
    case 'notice':
      return `notice     ${text('kind')}${fields['endpoint_id'] ? ` endpoint ${text('endpoint_id')}` : ''}: ${text('text')}`
    case 'fault':
      return `fault      ${text('what')}: ${text('reason')}`
    default: {
      const rest = Object.entries(fields).filter(([name]) => !['level', 'time', 'message'].includes(name))
      return [
        text('message'),
        ...rest.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
      ].join('  ')
    }
  }
}
