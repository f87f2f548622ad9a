import { testStorage } from '../../../lib/testing/index.ts'
import { lowdbInDirectory } from './lowdb/support.ts'

testStorage('lowdb', () => lowdbInDirectory())
