// Tables, and the pages of long lists.

const PAGE = 100;

/** A table that is read as one on a phone, too, where each row is a card. */
class Table {

  constructor(caption, columns) {
    this.columns = columns;
    this.body = h("tbody", {role: "rowgroup"});
    this.element = h("table", {role: "table", hidden: true},
      h("caption", {class: "hidden"}, caption),
      h("thead", {role: "rowgroup"}, h("tr", {role: "row"},
        ...columns.map(column => h("th", {role: "columnheader", scope: "col"}, column)))),
      this.body);
  }

  /** Shows items: create makes the elements of a row's cells, update fills them. */
  show(items, keyOf, create, update) {
    this.element.hidden = items.length === 0;
    sync(this.body, items, keyOf, item => this.row(create(item)), (row, item) => update(row.parts, item));
  }

  row(parts) {
    const row = h("tr", {role: "row"}, ...parts.map((part, index) =>
      h("td", {role: "cell", "data-label": this.columns[index]}, part)));
    row.parts = parts;
    return row;
  }
}

/** Goes through the pages of a long list. */
class Pager {

  page = 0;

  constructor(what, turn) {
    this.previous = h("button", {type: "button", onclick: () => turn(this.page - 1)}, "Previous");
    this.next = h("button", {type: "button", onclick: () => turn(this.page + 1)}, "Next");
    this.text = h("span", {});
    this.element = h("nav", {class: "pager", "aria-label": `Pages of ${what}`, hidden: true},
      this.previous, this.text, this.next);
  }

  /** Says which part of a list is shown; the total is unknown where the list is searched elsewhere. */
  show(page, shown, total) {
    const from = page * PAGE;
    this.page = page;
    this.previous.disabled = page === 0;
    this.next.disabled = total === undefined ? shown < PAGE : from + shown >= total;
    this.element.hidden = this.previous.disabled && this.next.disabled;
    const part = `${numbers.format(from + Math.min(1, shown))} to ${numbers.format(from + shown)}`;
    setText(this.text, total === undefined ? part : `${part} of ${numbers.format(total)}`);
  }
}
