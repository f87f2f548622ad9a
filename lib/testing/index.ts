/** `folkmoot/testing/storage`: the suite that verifies a storage adapter. It runs under vitest. */
import '../base/supported-runtime.ts'

export { runStorageCase, type SkippedCase, storageCases, testStorage } from './storage.ts'
export type { OpenStorage, StorageCase, StorageUnderTest, TableDefinition } from './subject.ts'
