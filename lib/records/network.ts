import { describe, record, Text } from '../fields.ts'
import { stamps } from './stamps.ts'

export const Network = record('NetworkResponse', {
  ...stamps,
  subdomain: describe(Text, 'The name of the network in addresses. Paths of the API take it in place of the id.'),
  title: describe(Text, 'The name of the network that members see.'),
  subtitle: describe(Text, 'A line below the title; it may be empty.'),
  purpose: describe(Text, 'What the network is for; it may be empty.'),
  description: describe(Text, 'A longer text about the network; it may be empty.'),
})
