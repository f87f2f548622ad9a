import { testStorage } from '../../../lib/testing/index.ts'
import { sqliteInDirectory } from './sqlite/support.ts'

testStorage('sqlite', sqliteInDirectory)
