#!/usr/bin/env node
import { begin } from './begin.ts'

begin('folkmoot-relay', () => import('./folkmoot-relay-main.ts'))
