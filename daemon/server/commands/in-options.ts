/** Refusals of the library's calls in the options of a command. */
import { isApiError } from '../../../lib/errors.ts'
import type { NetworkRow } from '../../../lib/index.ts'
import { about, CommandFailure, UsageError } from '../../usage.ts'
import { filterFlagOf } from './members/filters.ts'

/** Fields whose option has their name. The command itself checks `audience`, `order` and the like. */
const alike = /^(?:url|name|token|filter|allow_addresses|client_identity|ca|format|subdomain|title|subtitle|purpose|description)$/
/** The options of other fields. */
const others: Readonly<Record<string, string>> = {
  secrets: 'secret',
  headers: 'header',
  events: 'event',
  rate_per_second: 'rate',
  keepOldSeconds: 'keep-old',
  scopes: 'scope',
  member_id: 'member',
  expires_at: 'expires',
  'owner.email': 'owner-email',
  'owner.first_name': 'owner-name',
  'owner.last_name': 'owner-name',
  q: 'search',
  plan_ids: 'plan',
  space_ids: 'space',
  tags: 'tag',
}

const optionOf = (field: string): string | undefined =>
  alike.test(field) ? field.replace('_', '-') : Object.hasOwn(others, field) ? others[field] : filterFlagOf(field)

const makesOne = 'or true to make one'

/**
 * The same, with each field that is refused as the option of the command. There, `true` makes no token and no secret.
 * @throws whatever `work` throws, else
 */
export async function inOptions<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!isApiError(error) || error.status !== 422) throw error
    const sentence = error.message
      .replaceAll(makesOne, 'or --make-token and --make-secret make one')
      // Each problem begins with its field, which may be an item of a list.
      .replace(/(^|; )([a-zA-Z_]+(?:\.[a-z_]+)?)(?:\.\d+)?(?=[: ])/g, (whole, before: string, field: string) => {
        const option = optionOf(field)
        return option === undefined ? whole : `${before}--${option}`
      })
    throw sentence === error.message ? error : new UsageError(sentence, { cause: error.cause })
  })
}

/** The refusal of a record that a network does not have: with its id, and the command that lists those there are. */
export const missing = (
  { subdomain }: NetworkRow,
  record: 'endpoint' | 'key' | 'member' | 'report',
  id: string,
): CommandFailure =>
  about(new CommandFailure(`network ${subdomain} has no ${record} ${id}: see \`folkmoot ${record}s list\``), 'network')

/**
 * The same for work on one record.
 * @throws whatever `work` throws, else
 */
export async function ofRecord<T>(network: NetworkRow, record: Parameters<typeof missing>[1], id: string, work: Promise<T>) {
  return work.catch((error: unknown) => {
    throw isApiError(error) && error.status === 404 && error.message !== 'Network not found'
      ? missing(network, record, id)
      : error
  })
}
