/** Where the panel of a server is; in a file without imports, because the panel itself is loaded with its first request. */
export const panelPath = '/admin/panel'
