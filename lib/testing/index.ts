/**
 * `folkmoot/testing`: the suite that says whether a storage adapter is right. It runs under vitest.
 */
export { runStorageCase, type SkippedCase, storageCases, testStorage } from './storage.ts'
export type { OpenStorage, StorageCase, StorageUnderTest, TableDefinition } from './subject.ts'
