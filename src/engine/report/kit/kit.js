// What the scripts of all reports share: the data of the page, numbers as texts, tables that sort, files to save, and
// choices that are remembered.
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const byId = (id) => document.getElementById(id);

  const grouped = (value, decimals) => {
    const text = Math.abs(value).toLocaleString('en-US', {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    return value < 0 && /[1-9]/.test(text) ? '−' + text : text;
  };

  /** The number that a cell shows; its text where it shows none. */
  const cellKey = (cell) => {
    const text = cell.textContent.trim();
    const value = Number(
      text
        .replaceAll(',', '')
        .replace('−', '-')
        .replace(/[\s%×]+$/, ''),
    );
    return text === '' || text === '–' ? -Infinity : Number.isNaN(value) ? text : value;
  };

  function sortBy(heading) {
    const column = heading.cellIndex;
    const isDescending = heading.getAttribute('aria-sort') !== 'descending';
    for (const each of heading.parentNode.cells) each.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
    const body = heading.closest('table').tBodies[0];
    const sorted = [...body.rows]
      .map((row) => ({ row, key: cellKey(row.cells[column]) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    if (isDescending) sorted.reverse();
    body.append(...sorted.map(({ row }) => row));
  }

  /** Headings of these tables sort by a click, or by Enter and the space bar. */
  for (const table of document.querySelectorAll('table.sortable')) {
    table.tHead.addEventListener('click', ({ target }) => sortBy(target.closest('th')));
    for (const heading of table.tHead.rows[0].cells) heading.tabIndex = 0;
  }

  /**
   * Rows that can be chosen: by a click, or by Enter after Tab and the arrows. Tab reaches one row, from which the
   * arrows go on: thousands of stops would be in the way.
   */
  function choosableRows(table, choose) {
    const [body] = table.tBodies;
    if (body.rows.length === 0) return;
    body.addEventListener('click', ({ target }) => choose(target.closest('tr')));
    body.rows[0].tabIndex = 0;
    table.addEventListener('keydown', (event) => {
      const next = event.target.parentNode === body ? rowAfter(event.target, event.key) : null;
      if (!next) return;
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      event.preventDefault();
    });
  }

  /** The row that a key goes to; null: it is no such key, or there is no row there. */
  function rowAfter(row, key) {
    if (key === 'ArrowDown') return row.nextElementSibling;
    if (key === 'ArrowUp') return row.previousElementSibling;
    if (key === 'Home') return row.parentNode.firstElementChild;
    return key === 'End' ? row.parentNode.lastElementChild : null;
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    if (!event.target.matches('table.sortable th, table.choosable tbody tr')) return;
    event.target.click();
    event.preventDefault();
  });

  /** Saves a text as a file of the page's own making: nothing is asked of the network. */
  function save(name, text, type) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  const csvCell = (text) => (/[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const csv = (rows) => rows.map((cells) => cells.map((cell) => csvCell(String(cell))).join(',')).join('\r\n') + '\r\n';

  /** The headings and cells of a table, with numbers as programs read them. */
  const tableRows = (table) => {
    const plain = (cell) => {
      const text = cell.textContent.replace(/\s+/g, ' ').trim();
      const number = text.replaceAll(',', '').replace('−', '-');
      return text === '–' ? '' : /^-?\d+(\.\d+)?$/.test(number) ? number : text;
    };
    return [...table.rows].map((row) => [...row.cells].map(plain));
  };

  /** A name for files, of letters that every system takes. */
  const fileName = (part) => {
    const title = document.title
      .split(':')[0]
      .normalize('NFKD')
      .replace(/[^\w-]+/g, '-')
      .replace(/^-+|-+$/g, '');
    return (title.slice(0, 60) || 'candlepool') + '-' + part;
  };

  /** A choice of the reader that outlasts the page, where the browser keeps any. */
  const remembered = (name) => ({
    get: () => {
      try {
        return localStorage.getItem('candlepool.' + name);
      } catch {
        return null;
      }
    },
    set: (value) => {
      try {
        localStorage.setItem('candlepool.' + name, value);
      } catch {
        // A page that may keep nothing forgets the choice.
      }
    },
  });

  /** Buttons whose `data-copies` names the element with the text that they copy. */
  for (const button of document.querySelectorAll('button[data-copies]'))
    button.addEventListener('click', async () => {
      const from = byId(button.dataset.copies);
      const label = button.textContent;
      try {
        await navigator.clipboard.writeText(from.textContent);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(from);
        button.textContent = 'Selected: press Ctrl+C';
      }
      setTimeout(() => (button.textContent = label), 2_000);
    });

  window.kit = { data, byId, grouped, choosableRows, save, csv, tableRows, fileName, remembered };
})();
