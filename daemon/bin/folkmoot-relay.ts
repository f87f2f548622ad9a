#!/usr/bin/env node
import { begin } from './begin.ts'
import { limitYoungGeneration } from './young-generation.ts'

if (process.argv[2] === 'run') limitYoungGeneration()
begin('folkmoot-relay', () => import('./folkmoot-relay-main.ts'))
