import type { ScopedTx } from '../../../lib/storage/scoped.ts'
import { networks } from '../../../lib/storage/tables/administration.ts'
import { collections, members, spaceMemberships, spaces } from '../../../lib/storage/tables/members.ts'
import { at, demoNetwork, memberIds, pick, range, spaceIds, stamp } from './made.ts'

const firstNames = [
  'Ada',
  'Bela',
  'Cleo',
  'Dara',
  'Edda',
  'Finn',
  'Gita',
  'Hugo',
  'Ines',
  'Jonas',
  'Kaya',
  'Liam',
  'Mira',
  'Noor',
] as const
const lastNames = ['Ash', 'Birch', 'Cedar', 'Elm', 'Fir', 'Hazel', 'Larch', 'Maple', 'Oak', 'Pine', 'Rowan', 'Willow'] as const
const places = ['Basel', 'Bergen', 'Delft', 'Graz', 'Porto', 'Turku'] as const
const zones = ['Europe/Zurich', 'Europe/Oslo', 'Europe/Amsterdam', 'Europe/Vienna', 'Europe/Lisbon', 'Europe/Helsinki'] as const
const collectionNames = ['Studios', 'Courses', 'Archive'] as const
const spaceNames = ['Welcome', 'Watercolour', 'Oil', 'Portraits', 'Course: First Strokes', 'Course: Light'] as const

/** The network, its members, its spaces and who is in them. */
export async function seedPeople(tx: ScopedTx): Promise<void> {
  await tx.insert(networks, {
    ...stamp(1, 0),
    ...demoNetwork,
    title: 'Paint Pals',
    subtitle: 'A community of painters',
    purpose: 'To paint together',
    description: 'A network to try the Admin API on.',
    service_plan: 'unlimited',
    member_email_visibility: true,
  })
  for (const [place, id] of memberIds.entries()) {
    const first_name = pick(firstNames, place)
    const last_name = pick(lastNames, place)
    const email = `${first_name}.${last_name}.${place + 1}@example.org`.toLowerCase()
    await tx.insert(members, {
      ...stamp(Number(id), place),
      email,
      email_key: email,
      first_name,
      last_name,
      role: place === 0 ? 'host' : place < 3 ? 'moderator' : 'contributor',
      // One in seven has not consented to commercial e-mail: their address is never shown.
      commercial_email_consent: place % 7 !== 6,
      location: pick(places, place),
      time_zone: pick(zones, place),
      bio: place % 2 === 0 ? `Paints in ${pick(places, place)}` : null,
      referral_count: place % 4,
      ambassador_level: place % 10 === 3 ? 'Bronze' : null,
      categories: place < 12 ? [{ id: String(3301 + (place % 3)), title: pick(['Watercolour', 'Oil', 'Acrylic'], place) }] : [],
      last_visited_at: at(200 + place),
    })
  }
  for (const place of range(3)) {
    const name = pick(collectionNames, place)
    await tx.insert(collections, { ...stamp(2101 + place, 1), name, name_key: name.toLowerCase(), position: place + 1 })
  }
  for (const [place, id] of spaceIds.entries())
    await tx.insert(spaces, {
      ...stamp(Number(id), 1),
      name: pick(spaceNames, place),
      collection_id: String(2101 + (place % 3)),
      position: Math.floor(place / 3) + 1,
    })
  let membership = 2201
  for (const [place, member_id] of memberIds.entries())
    for (const space_id of spaceIds.slice(0, 1 + (place % 6)))
      await tx.insert(spaceMemberships, { ...stamp(membership++, place), space_id, member_id })
}
