/** An index of the parts of texts: FTS5 with the trigrams of a column, kept by triggers, so also by other programs and by hosts. */
import { quoted } from '../dialect.ts'

/** More trigrams find hardly fewer rows. */
const maxTrigrams = 32

/** The trigrams of texts, by code point. A shorter text has none. */
export const trigramsOf = (texts: readonly string[]): readonly string[] => {
  const all = texts.flatMap((text) => {
    const letters = [...text]
    return letters.slice(2).map((last, place) => `${letters[place]}${letters[place + 1]}${last}`)
  })
  return [...new Set(all)].slice(0, maxTrigrams)
}

/**
 * The statements that make it, and fill it.
 * @param table the name of the table, unquoted
 * @param index the name of the index, quoted, and the column's
 */
export function textIndex(table: string, index: string, column: string): readonly string[] {
  const trigger = (when: string, to: string, statements: string) =>
    `CREATE TRIGGER ${quoted(`${table}_search_${when}`)} AFTER ${to} BEGIN ${statements} END`
  const add = `INSERT INTO ${index} (rowid, ${column}) VALUES (new."id", new.${column});`
  const remove = `INSERT INTO ${index} (${index}, rowid, ${column}) VALUES ('delete', old."id", old.${column});`
  const on = `ON ${quoted(table)}`
  return [
    // The rows have the texts, which are compared in any case: the index holds neither positions nor lengths.
    `CREATE VIRTUAL TABLE ${index} USING fts5 (${column}, content = ${quoted(table)}, content_rowid = "id", tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0)`,
    // Or the trigrams of a text that is changed or removed stay in it until its parts are merged.
    `INSERT INTO ${index} (${index}, rank) VALUES ('secure-delete', 1)`,
    // Bytes of its pages, which are read from the beginning: with 4,050 a rare word beside a common one took four times as long.
    `INSERT INTO ${index} (${index}, rank) VALUES ('pgsz', 200)`,
    trigger('insert', `INSERT ${on}`, add),
    trigger('delete', `DELETE ${on}`, remove),
    trigger('update', `UPDATE OF ${column} ${on} WHEN old.${column} <> new.${column}`, `${remove} ${add}`),
    `INSERT INTO ${index} (${index}) VALUES ('rebuild')`,
  ]
}
