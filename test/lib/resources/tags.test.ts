import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

test('PUT with one field leaves the others', async () => {
  const { send } = await createTestCommunity()
  const { body: tag } = await send('tags.create', { body: { title: 'Gardening', color: '#00FF00', description: 'Green' } })
  const updated = await send('tags.replace', { params: { id: tag.id }, body: { title: 'Garden' } })
  expect(updated.body).toEqual({ ...tag, title: 'Garden' })
})
