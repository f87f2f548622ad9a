/** `folkmoot/testing/storage`: the suite that verifies a storage adapter. It runs under vitest. */
export { runStorageCase, type SkippedCase, storageCases, testStorage } from './storage.ts'
export type { OpenStorage, StorageCase, StorageUnderTest, TableDefinition } from './subject.ts'
