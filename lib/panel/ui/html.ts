/** The one file that loads `hono/html`. Every value in a template is escaped; `raw` is for the panel's own texts. */
import { html as template } from 'hono/html'

/** Escaped HTML. */
export type Html = ReturnType<typeof template>

/** A template: values are escaped, templates and lists of them are kept, and false, null and undefined are nothing. */
export const html = template

export { raw } from 'hono/html'
