import { Id, record, Text, Timestamp } from '../fields.ts'

export const Network = record('NetworkResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  subdomain: Text,
  title: Text,
  subtitle: Text,
  purpose: Text,
  description: Text,
})
