/** The forms of `--storage`, for help and messages. */
export const storageForms = 'lowdb:PATH, memory:, sqlite:PATH or postgres://…'

export const defaultStorage = 'lowdb:./data/db.json'
