/** The receiver of webhooks in the application of Next.js, as `docs/receiver.md` shows it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { sign } from '../../../../lib/receiver/index.ts'
import type { Question } from './questions.ts'
import { until } from './running.ts'

/** The settings of the receiver. */
export const webhooks = { token: 'my-webhook-token', secrets: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }

const docs = join(import.meta.dirname, '..', '..', '..', '..', 'docs')
const route = join('app', 'webhooks', 'route.js')

export const receives: Pick<Question, 'title' | 'run'> = {
  title: 'receives webhooks by the route of docs/receiver.md',
  async run({ host }) {
    const page = readFileSync(join(docs, 'receiver.md'), 'utf8')
    expect(page).toContain(`\n\`\`\`js\n${readFileSync(join(docs, 'examples', 'next', route), 'utf8')}\`\`\`\n`)
    const body = JSON.stringify({
      event_id: crypto.randomUUID(),
      event_timestamp: new Date().toISOString(),
      event_type: 'PostCreatedHook',
      payload: { id: '2001', title: 'Hello' },
    })
    const deliver = async (headers: Readonly<Record<string, string>>, path = '/webhooks') => {
      const response = await fetch(host.origin + path, { method: 'POST', headers, body, redirect: 'manual' })
      return response.status
    }
    const headers = await sign(body, webhooks)
    expect(await deliver({ ...headers, authorization: 'Bearer wrong' })).toBe(401)
    expect(await deliver({ ...headers, 'webhook-signature': 'v1,AAAA' })).toBe(401)
    expect([await deliver(headers), await deliver(headers), await deliver(headers, '/webhooks/')]).toEqual([204, 204, 204])
    const handled = () =>
      host
        .log()
        .split('\n')
        .filter((line) => line === 'PostCreatedHook').length
    await until(
      async () => handled() > 0,
      () => `the event is not in the log:\n${host.log()}`,
    )
    expect(handled()).toBe(1)
  },
}
