import { inBrowser, onContentUpdated, type Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import Playground from './Playground.vue'
import './style.css'
import { rememberTabs, showChosenTabs } from './tabs.ts'

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component('Playground', Playground)
    if (inBrowser) rememberTabs()
  },
  setup: () => onContentUpdated(showChosenTabs),
} satisfies Theme
