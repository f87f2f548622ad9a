/**
 * The script of the panel, in a text: a browser runs it, and every page works without it. It copies, puts times into the
 * viewer's zone, filters lists, refreshes what changes, and shows a confirmation as a dialog.
 */
export const script = `
const times = (root) => {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    if (isNaN(at)) continue
    time.title = time.dateTime
    time.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: time.dataset.seconds === undefined ? 'short' : 'medium' })
  }
}
const ready = (root) => {
  times(root)
  for (const button of root.querySelectorAll('[data-copy],[data-all]')) button.hidden = false
  for (const input of root.querySelectorAll('[data-filter]')) input.closest('.field').hidden = false
}
ready(document)
document.addEventListener('click', async (event) => {
  const from = event.target.closest('[data-copy],[data-dialog],[data-close],[data-all]')
  if (!from || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (from.dataset.copy !== undefined) {
    try {
      await navigator.clipboard.writeText(document.getElementById(from.dataset.copy).textContent)
      from.textContent = 'Copied'
    } catch { from.textContent = 'Select the text and copy it' }
  } else if (from.dataset.all !== undefined) {
    for (const box of document.getElementsByName(from.dataset.all)) box.checked = true
  } else if (from.dataset.close !== undefined) {
    const open = from.closest('dialog')
    if (open) { event.preventDefault(); open.close() }
  } else {
    event.preventDefault()
    try {
      const answer = await fetch(from.href)
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('[data-confirm]')
      if (!answer.ok || !page) throw 0
      const dialog = document.createElement('dialog')
      dialog.append(page)
      for (const form of page.querySelectorAll('form')) form.action = new URL(form.getAttribute('action') || '', from.href)
      dialog.setAttribute('aria-labelledby', page.querySelector('h1').id)
      dialog.onclose = () => { dialog.remove(); from.focus() }
      document.body.append(dialog)
      ready(dialog)
      dialog.showModal()
    } catch { location = from.href }
  }
})
document.addEventListener('input', ({ target }) => {
  if (target.dataset.filter === undefined) return
  const words = target.value.toLowerCase()
  for (const item of document.querySelectorAll('[data-item]')) item.hidden = !item.dataset.item.includes(words)
})
const refresh = async () => {
  const old = document.querySelector('[data-refresh]')
  if (!old) return
  if (!document.hidden && !old.contains(document.activeElement)) try {
    const answer = await fetch(location.href)
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('[data-part="' + old.dataset.part + '"]')
    if (answer.ok && fresh) { ready(fresh); old.replaceWith(fresh) }
  } catch {}
  wait()
}
const wait = () => {
  const part = document.querySelector('[data-refresh]')
  if (part) setTimeout(refresh, part.dataset.refresh * 1000)
}
wait()
`.trim()
