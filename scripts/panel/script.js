/**
 * The script of the panel: a browser runs it, and every page works without it. It copies, puts times and fields for times into the
 * viewer's zone, filters lists, refreshes what changes, and shows a confirmation as a dialog. `npx node scripts/panel/make-script.ts`
 * puts it, minified, into `lib/panel/ui/script.ts`.
 */
const all = (selector, root = document) => [...root.querySelectorAll(selector)]
const clock = (at) => at.toLocaleTimeString(undefined, { timeStyle: 'short' })
const by = (id) => document.getElementById(id)
const ready = (root) => {
  for (const time of all('time[datetime]', root)) {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) continue
    time.title = time.dateTime
    time.textContent =
      'clock' in time.dataset ? clock(at) : at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
  }
  for (const text of all('[data-at]', root))
    text.textContent = text.textContent.replace(/^.*? UTC/, clock(new Date(text.dataset.at)))
  for (const field of all('input[data-utc]', root)) {
    const at = new Date(`${field.value}Z`)
    if (!Number.isNaN(at.getTime())) field.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16)
  }
  for (const word of all('span[data-utc]', root)) word.hidden = true
  for (const part of all('[data-script]', root)) part.hidden = false
}
const read = async (url) => {
  const response = await fetch(url)
  if (!response.ok) throw 0
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}
ready(document)
document.addEventListener('click', async (event) => {
  const from = event.target.closest('[data-copy],[data-dialog],[data-close],[data-all]')
  if (!from || event.ctrlKey || event.metaKey || event.shiftKey) return
  const { copy, all: boxes, close } = from.dataset
  if (copy) {
    const field = by(copy)
    const news = from.nextElementSibling
    try {
      await navigator.clipboard.writeText(field.value)
      news.textContent = 'Copied.'
    } catch {
      field.select()
      news.textContent = 'Selected. Copy it now.'
    }
  } else if (boxes) {
    for (const box of document.getElementsByName(boxes)) box.checked = true
  } else if (close) {
    const open = from.closest('dialog')
    if (open) {
      event.preventDefault()
      open.close()
    }
  } else {
    event.preventDefault()
    try {
      const page = (await read(from.href)).querySelector('[data-confirm]')
      if (document.querySelector('dialog')) return
      const dialog = document.createElement('dialog')
      dialog.append(page)
      for (const form of all('form', page)) form.action = new URL(form.getAttribute('action') || '', from.href)
      for (const back of all('[data-close]', page)) back.textContent = back.dataset.close
      dialog.setAttribute('aria-labelledby', 'question')
      dialog.onclose = () => {
        dialog.remove()
        from.focus()
      }
      document.body.append(dialog)
      ready(dialog)
      dialog.showModal()
    } catch {
      location.href = from.href
    }
  }
})
document.addEventListener('input', ({ target }) => {
  if (!('filter' in target.dataset)) return
  const words = target.value.toLowerCase().split(' ')
  const items = all('[data-item]')
  for (const item of items) item.hidden = !words.every((word) => item.dataset.item.includes(word))
  for (const group of all('[data-group]')) group.hidden = !group.querySelector('[data-item]:not([hidden])')
  by('found').textContent = `${items.filter((item) => !item.hidden).length} of ${items.length}`
})
document.addEventListener('formdata', ({ target, formData }) => {
  for (const field of all('input[data-utc]', target))
    if (field.value) formData.set(field.name, new Date(field.value).toISOString().slice(0, 16))
})
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && 'filter' in event.target.dataset) event.preventDefault()
})
const parts = () => all('[data-refresh]')
const refresh = async () => {
  if (!document.hidden)
    try {
      const page = await read(location.href)
      for (const old of parts()) {
        const fresh = page.querySelector(`[data-part="${old.dataset.part}"]`)
        ready(fresh)
        const holds = old.contains(document.activeElement)
        if (fresh.outerHTML === old.outerHTML || (holds && fresh.querySelector('a,button'))) continue
        old.replaceWith(fresh)
        if (holds) by('main').focus()
      }
    } catch {}
  wait()
}
const wait = () => {
  const [part] = parts()
  if (part) setTimeout(refresh, part.dataset.refresh * 1000)
}
wait()
document.querySelector('[data-go]')?.requestSubmit()
