/** The types of the client. These tests fail in `npm run check:types`, before they run. */
import { expect, expectTypeOf, test } from 'vitest'
import type { Bodies } from '../../../lib/client/bodies.ts'
import type { Call, CallResponse, List, Page } from '../../../lib/client/index.ts'
import type { Results } from '../../../lib/client/records.ts'
import type { OperationId, OperationInput, OperationResult, OwnOperationId } from '../../../lib/operations.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'
import { clientOf } from '../../support/through-client.ts'

const { community, token } = await createSeededCommunity()
const client = clientOf(community, token)

test('a record has the types of its declaration', async () => {
  const member = await client.members.show(seeded.member)
  expectTypeOf(member.id).toEqualTypeOf<string>()
  expectTypeOf(member.member_type).toEqualTypeOf<'full' | 'limited'>()
  expectTypeOf(member.first_name).toEqualTypeOf<string | null>()
  // @ts-expect-error: a member has no title
  expect(member.title).toBeUndefined()
  const { data } = await client.members.show(seeded.member).withResponse()
  expectTypeOf(data).toEqualTypeOf<typeof member>()
  expect(data).toEqual(member)
})

type Same<A, B> = [A, B] extends [B, A] ? true : false
type Declared<Name extends OperationId> =
  OperationResult<Name> extends { readonly items: readonly (infer Item)[] } ? Item : OperationResult<Name>

test('the records and bodies of every operation are those of its declaration', () => {
  type DeclaredBody<Name extends OperationId> = OperationInput<Name> extends { readonly body: infer B } ? B : never
  type OtherResults = {
    [Name in OwnOperationId]: Same<Results[Name], Declared<Name>> extends true ? never : Name
  }[OwnOperationId]
  type OtherBodies = { [Name in keyof Bodies]: Same<Bodies[Name], DeclaredBody<Name>> extends true ? never : Name }[keyof Bodies]
  expectTypeOf<OtherResults>().toBeNever()
  expectTypeOf<OtherBodies>().toBeNever()
})

test('a list has the type of its records, and a call without a response has none', () => {
  type Member = Awaited<ReturnType<typeof client.members.show>>
  expectTypeOf(client.members.list).returns.toEqualTypeOf<List<Member>>()
  expectTypeOf(client.spaces.members.list).returns.toEqualTypeOf<List<Member>>()
  expectTypeOf<Awaited<ReturnType<typeof client.members.list>>>().toEqualTypeOf<Page<Member>>()
  expectTypeOf(client.members.delete).returns.toEqualTypeOf<Call<undefined>>()
  expectTypeOf<ReturnType<Call<undefined>['withResponse']>>().toEqualTypeOf<Promise<CallResponse<undefined>>>()
})

test('a response that may be empty may be undefined', async () => {
  const [field, member] = [seeded.textField, seeded.member]
  const answer = await client.customFields.members.answers.upsert(field, member, { text: 'Step by step' })
  // @ts-expect-error: a response may have been cleared
  expect(answer.text).toBe('Step by step')
  expect(await client.customFields.members.answers.upsert(field, member, { text: '' })).toBeUndefined()
})

test('wrong bodies and queries are refused by the compiler, and by the server', async () => {
  const wrong = [
    // @ts-expect-error: an address is missing
    () => client.members.create({ first_name: 'Ada', last_name: 'Ash' }),
    // @ts-expect-error: there is no such role
    () => client.members.update(seeded.member, { role: 'king' }),
    // @ts-expect-error: the member is missing
    () => client.spaces.members.create(seeded.space, {}),
    // @ts-expect-error: there is no such status
    () => client.subscriptions.cancel(seeded.subscription, { when: 'never' }),
  ]
  for (const call of wrong) await expect(call()).rejects.toThrow(/: 4\d\d /)
})
