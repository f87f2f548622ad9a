import type { DefaultTheme } from 'vitepress'

/** Each function also runs in the reader's browser, from its text, so it uses nothing from outside of itself. */
export const search: NonNullable<DefaultTheme.LocalSearchOptions['miniSearch']> = {
  options: {
    /** Words that every page has find nothing. A word finds its plural, and the other way round. */
    processTerm: (term) => {
      const common =
        'a an and are as at be by can do for from has have how i if in is it my not of on or that the this to what when where with you your'
      const word = term.toLowerCase()
      if (common.split(' ').includes(word)) return null
      return word.length > 3 ? word.replace(/ies$/, 'y').replace(/([^siu])s$/, '$1') : word
    },
  },
  searchOptions: {
    /** Words that readers know from elsewhere find those of the pages, too. */
    tokenize: (query) => {
      const others: Readonly<Record<string, string>> = {
        auth: 'authorize authenticate token',
        authentication: 'authorize authenticate token',
        docker: 'container containerfile',
        gdpr: 'erase erasure',
        hmac: 'signature',
        jwt: 'authenticate token',
        kubernetes: 'container',
        login: 'signin authorize session',
        nextjs: 'next js',
        pagination: 'lists per page',
        postgres: 'postgresql',
        signin: 'authorize session',
        quickstart: 'tutorial',
        sso: 'signin authorize session',
        swagger: 'openapi',
        throttle: 'rate limit',
        throttling: 'rate limit',
        user: 'member',
      }
      const words = query
        .toLowerCase()
        .replace(/\b(log|sign)[ -]in\b/g, '$1in')
        .split(/[\s\p{P}]+/u)
      return words.flatMap((word) => [word, ...(others[word]?.split(' ') ?? [])])
    },
    boost: { title: 6, text: 1, titles: 1 },
    prefix: (_term, index, terms) => index === terms.length - 1,
    fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    weights: { prefix: 0.2, fuzzy: 0.1 },
    /** Guides and operations come before lists of everything. */
    boostDocument: (id) => {
      if (/^\/(?:client-methods|gaps|interface|operations\.|performance|scopes)/.test(id)) return 0.4
      if (/^\/(?:commands|events|options)/.test(id)) return 0.7
      return id.startsWith('/webhooks') ? 1.1 : 1
    },
  },
}
