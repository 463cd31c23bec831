//! Tables that fit the terminal: one line per row, one rule under the header.

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, TableStyle, Width};

use super::terminal;

const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// The least width, including padding, of a column that is cut.
const MIN_WIDTH: u16 = 8;

/// The space to the right of a column.
const PADDING: u16 = 2;

/// A table of at most the terminal's width. If that is too narrow, the cells of the `flexible` columns are cut first.
pub(super) fn table<'a>(
    header: impl IntoIterator<Item = &'a str>,
    rows: impl IntoIterator<Item = Vec<Cell>>,
    flexible: &[usize],
) -> String {
    let mut table = Table::new();
    // Whether styles are printed is decided at the output.
    table.load_style(STYLE).set_truncation_indicator("…").enforce_styling().style_text_only();
    // No cell contains a line break, so cells are cut at any character, not only at spaces.
    table.set_delimiter('\n').set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(row(header.into_iter().map(|title| Cell::new(title).add_attribute(Attribute::Bold)).collect()));
    table.add_rows(rows.into_iter().map(row));
    for column in table.column_iter_mut() {
        column.set_padding((0, PADDING));
    }
    if let Some(width) = terminal::width() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        keep_columns(&mut table, width, flexible);
    }
    table.trim_fmt()
}

fn row(cells: Vec<Cell>) -> Row {
    let mut row = Row::from(cells);
    row.max_height(1);
    row
}

/// Lets only the flexible columns shrink, if there is room for them next to the others.
fn keep_columns(table: &mut Table, width: u16, flexible: &[usize]) {
    let widths = table.column_max_content_widths();
    let is_flexible = |at: &usize| flexible.contains(at);
    let least = |at| if is_flexible(&at) { MIN_WIDTH } else { widths[at].saturating_add(PADDING) };
    if (0..widths.len()).map(least).fold(0, u16::saturating_add) > width {
        return;
    }
    for (at, column) in table.column_iter_mut().enumerate().filter(|(at, _)| !is_flexible(at)) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(widths[at].saturating_add(PADDING))));
    }
}
