import type { ScopedTx } from '../../../lib/storage/scoped.ts'
import { abuseReports, comments, courseworks, mutes, posts, reactions } from '../../../lib/storage/tables/content.ts'
import { events, rsvps } from '../../../lib/storage/tables/events.ts'
import { at, memberIds, ownerId, pick, range, spaceIds, stamp } from './made.ts'

const postTitles = ['Hello', 'My first sketch', 'Which paper?', 'Light in winter', 'A trip to Delft', 'Mixing greens'] as const
const [firstMember = ownerId, ...otherMembers] = memberIds
const authors = [firstMember, ...otherMembers] as const
const spaces = ['2001', ...spaceIds.slice(1)] as const

/** Posts, articles, polls, questions and events with what members said to them; courses; reports. */
export async function seedContent(tx: ScopedTx): Promise<void> {
  const post = (id: number, days: number, title: string) => ({
    ...stamp(id, days),
    title,
    description: `${title}, and what came of it.`,
    summary: `${title}, and what came of it.`,
    content_type: 'text',
    space_id: pick(spaces, id),
    creator_id: pick(authors, id),
    published_at: at(days),
    last_activity_at: at(days),
  })
  for (const place of range(30))
    await tx.insert(posts, {
      ...post(4001 + place, 30 + place, `${pick(postTitles, place)} ${place + 1}`),
      family: 'post',
      post_type: place % 5 === 4 ? 'article' : 'post',
    })
  const pollTypes = ['multiple_choice_poll', 'hot_cold_poll', 'percentage_poll'] as const
  for (const place of range(6))
    await tx.insert(posts, {
      ...post(4101 + place, 70 + place, `Poll ${place + 1}`),
      family: 'poll',
      post_type: 'poll',
      poll_type: pick(pollTypes, place),
      choices: range(3).map((choice) => ({ id: String(4151 + place * 3 + choice), text: `Choice ${choice + 1}` })),
    })
  for (const place of range(3))
    await tx.insert(posts, { ...post(4201 + place, 80 + place, `Question ${place + 1}`), family: 'poll', post_type: 'question' })
  for (const place of range(5)) {
    await tx.insert(posts, { ...post(4301 + place, 90 + place, `Open studio ${place + 1}`), family: 'event', post_type: 'event' })
    await tx.insert(events, {
      ...stamp(4301 + place, 90 + place),
      post_id: String(4301 + place),
      event_type: place % 2 === 0 ? 'online_meeting' : 'local_meetup',
      starts_at: at(400 + place),
      ends_at: at(400 + place).replace('T09', 'T11'),
      time_zone: 'Europe/Zurich',
      location: place % 2 === 0 ? null : 'Basel',
      link: place % 2 === 0 ? 'https://meet.example/studio' : null,
    })
    for (const guest of range(4))
      await tx.insert(rsvps, {
        ...stamp(4401 + place * 4 + guest, 100),
        event_id: String(4301 + place),
        member_id: pick(authors, guest + 1),
        status: pick(['yes', 'maybe', 'no'], guest),
      })
  }
  for (const place of range(10)) {
    const target = { post_id: '4030', space_id: pick(spaces, 4030) }
    const isReply = place % 3 === 2
    await tx.insert(comments, {
      ...stamp(4501 + place, 110),
      ...target,
      author_id: pick(authors, place),
      text: `<p>Comment ${place + 1}</p>`,
      reply_to_id: isReply ? String(4500 + place) : null,
      depth: isReply ? 2 : 1,
      reply_count: place % 3 === 1 && place < 9 ? 1 : 0,
      cheer_count: place === 0 ? 3 : 0,
    })
    await tx.insert(reactions, {
      ...stamp(4601 + place, 111),
      ...target,
      member_id: pick(authors, place + 1),
      emoji: '🎨',
      base_emoji: '🎨',
    })
  }
  for (const place of range(3)) {
    const member_id = pick(authors, place + 1)
    await tx.insert(reactions, {
      ...stamp(4651 + place, 112),
      comment_id: '4501',
      space_id: pick(spaces, 4030),
      member_id,
      emoji: '👍🏽',
      base_emoji: '👍',
    })
    await tx.insert(mutes, { ...stamp(4701 + place, 113), post_id: String(4001 + place), member_id })
    await tx.insert(abuseReports, {
      ...stamp(4801 + place, 114),
      member_id,
      targetable_id: String(4001 + place),
      targetable_type: 'post',
      report_type: pick(['spam', 'offensive', 'other'], place),
      reason: 'Not about painting',
      space_id: pick(spaces, 4001 + place),
    })
  }
  await seedCourse(tx, '2005', 4901)
  await seedCourse(tx, '2006', 4951)
}

async function seedCourse(tx: ScopedTx, space_id: string, first: number): Promise<void> {
  const item = { space_id, status: 'posted', completion_criteria: 'visited', unlocking_criteria: 'none' } as const
  const overview = String(first)
  await tx.insert(courseworks, {
    ...stamp(first, 25),
    ...item,
    type: 'overview',
    title: 'Overview',
    position: 1,
    children_count: 2,
  })
  for (const section of range(2)) {
    const id = first + 1 + section * 10
    const title = `Section ${section + 1}`
    await tx.insert(courseworks, {
      ...stamp(id, 26),
      ...item,
      type: 'section',
      parent_id: overview,
      title,
      position: section + 1,
      children_count: 3,
    })
    for (const lesson of range(3))
      await tx.insert(courseworks, {
        ...stamp(id + 1 + lesson, 27),
        ...item,
        type: lesson === 2 ? 'quiz' : 'lesson',
        parent_id: String(id),
        title: lesson === 2 ? 'Quiz' : `Lesson ${lesson + 1}`,
        position: lesson + 1,
      })
  }
}
