//! A trace shows the items of the places that it passes, however the body arrives and whatever lies in between.

use std::sync::Arc;

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::trace::{Direction, ItemsProjection, ItemsView, LineageProjection, Place, Route};
use n8n_lens::json::Projection;

use super::entropy::Entropy;
use super::{execution, is_json, read, split};

/// Larger bodies take long and reveal nothing more.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// The property.
pub fn check(data: &[u8]) {
    let (mut choices, rest) = split(data);
    let body = execution(&mut choices, rest);
    if body.len() > MAX_BODY_BYTES || !is_json(&body) {
        return;
    }
    let Ok(names) = NodeProjection::default().read_from(&body[..]).map(|view| view.names) else { return };
    let places: Arc<[_]> = (0..1 + choices.below(3)).map(|_| place(&mut choices, &names)).collect();
    let direction = *choices.pick(&[Direction::Back, Direction::Forward, Direction::Both]);
    let sizes = choices.sizes();
    read(&body, &LineageProjection, &sizes, |view| format!("{:?}", Route::new(view, &places[0], direction)));
    let items = ItemsProjection { places, redacts: choices.one_in(2) };
    read(&body, &items, &sizes, as_text);
}

/// A place that may exist.
pub fn place(choices: &mut Entropy<'_>, names: &[String]) -> Place {
    let node = if names.is_empty() { "none".to_owned() } else { choices.pick(names).clone() };
    let (run, output) = (choices.below(2) as u64, choices.below(2) as u64);
    Place { node, run, output, item: choices.below(5) as u64 }
}

/// The items in the order of their places.
pub fn as_text(items: &ItemsView) -> String {
    let mut items: Vec<_> = items.iter().map(|item| format!("{item:?}")).collect();
    items.sort();
    items.join("\n")
}
