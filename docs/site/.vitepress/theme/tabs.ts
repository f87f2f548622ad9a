/** Groups of tabs with the same titles show the same tab, on every page, also at the next visit. */
const inputsOf = (group: Element): readonly HTMLInputElement[] => [...group.querySelectorAll<HTMLInputElement>('.tabs input')]
const titlesOf = (group: Element): readonly string[] =>
  [...group.querySelectorAll<HTMLElement>('.tabs label')].map(({ dataset }) => dataset['title'] ?? '')
const keyOf = (group: Element): string => `tabs: ${titlesOf(group).join(', ')}`

/** Shows in each group the tab that was chosen last. A browser may refuse to store anything. */
export function showChosenTabs(): void {
  for (const group of document.querySelectorAll('.vp-code-group')) {
    const chosen = titlesOf(group).indexOf(read(keyOf(group)))
    if (chosen < 0) continue
    for (const [index, input] of inputsOf(group).entries()) input.checked = index === chosen
    for (const [index, block] of [...(group.querySelector('.blocks')?.children ?? [])].entries())
      block.classList.toggle('active', index === chosen)
  }
}

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

export function rememberTabs(): void {
  addEventListener('change', ({ target }) => {
    const group = target instanceof HTMLInputElement && target.closest('.vp-code-group')
    if (!group) return
    const { top } = group.getBoundingClientRect()
    try {
      localStorage.setItem(keyOf(group), titlesOf(group)[inputsOf(group).indexOf(target)] ?? '')
    } catch {
      return
    }
    showChosenTabs()
    // Groups above may have become higher or lower.
    scrollBy(0, group.getBoundingClientRect().top - top)
  })
}
