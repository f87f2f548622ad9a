import { Id, orNull, record, Text, Url } from '../fields.ts'

export const Asset = record('AssetResponse', { id: Id, url: orNull(Url), type: Text, name: orNull(Text) })
