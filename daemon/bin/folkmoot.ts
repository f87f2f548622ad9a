#!/usr/bin/env node
import { begin } from './begin.ts'

begin('folkmoot', () => import('./folkmoot-main.ts'))
