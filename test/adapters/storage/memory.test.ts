import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { testStorage } from '../../../lib/testing/index.ts'
import { recordingOutbox } from './recording-outbox.ts'

testStorage('memory', async () => {
  const outbox = recordingOutbox()
  return { storage: memoryStorage({ outbox }), records: outbox.records }
})
