import { testStorage } from '../../../lib/testing/index.ts'
import { testPostgres } from '../../support/postgres.ts'
import { postgresSubject } from './postgres/support.ts'

const postgres = await testPostgres()

testStorage('postgres', (tables) => postgresSubject(postgres, tables))
