//! Bodies whose UTF-8 is not checked again, such as those from the cache: the result for a valid one is the same, and a broken
//! one that no checksum has refused yet causes no panic.

use std::ops::Range;

use n8n_lens::execution::compare::DigestProjection;
use n8n_lens::execution::fields::FieldsProjection;
use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::search::{SearchProjection, TextPattern, ValueQuery};
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::execution::timeline::TimelineProjection;
use n8n_lens::execution::trace::{ItemsProjection, LineageProjection, Place};
use n8n_lens::json::{Cursor, Keep, Projection, PrunedReader, Pruner};

use crate::random::Random;
use crate::{fixtures, oracle};

const ALL: Range<u64> = 0..u64::MAX;

fn trusting<P: Projection>(projection: &P, body: &[u8]) -> P::View {
    projection.read(Cursor::over(PrunedReader::new(body, projection.pruner().trusting_utf8())))
}

/// Reads a body with every projection.
fn read_all(body: &[u8], node: &str) {
    let node = node.to_owned();
    let text = TextPattern::literal("e").unwrap();
    let query = ValueQuery { text: Some(text), ..ValueQuery::default() };
    let place = Place { node: node.clone(), run: 0, output: 0, item: 0 };
    let _ = trusting(&SummaryProjection, body);
    let _ = trusting(&NodeProjection { node: node.clone(), run: None, window: ALL, sources: None }, body);
    let _ = trusting(&SearchProjection { query, node: None, output: None, limit: 20, redacts: true }, body);
    for redacts in [false, true] {
        let _ = trusting(&FieldsProjection { node: Some(node.clone()), redacts, ..FieldsProjection::default() }, body);
    }
    let _ = trusting(&LineageProjection, body);
    let _ = trusting(&ItemsProjection { places: [place].into(), redacts: false }, body);
    let _ = trusting(&DigestProjection { redacts: false }, body);
    let _ = trusting(&TimelineProjection { bars: 100, range: None }, body);
}

#[test]
fn a_sound_body_leaves_the_same() {
    for (name, body) in fixtures::executions_of_any_size() {
        let checked = format!("{:?}", SummaryProjection.read_from(&*body).unwrap());
        assert_eq!(format!("{:?}", trusting(&SummaryProjection, &body).unwrap()), checked, "{name}");
    }
    let broken = b"[1, \"\xff\"]";
    assert!(Pruner::new(Keep::Count, ALL).feed(broken).is_err());
    assert_eq!(Pruner::new(Keep::Count, ALL).trusting_utf8().feed(broken).unwrap().text, b"2");
}

#[test]
fn broken_utf8_panics_nowhere() {
    let mut random = Random(17);
    for (_, body) in fixtures::executions().into_iter().filter(|(_, body)| body.len() < 60_000) {
        let nodes = oracle::nodes(&fixtures::parse(&body));
        for _ in 0..20 {
            let mut body = body.clone();
            for _ in 0..1 + random.index(200) {
                let at = random.index(body.len());
                // Not in the structure, so that the rest is still read.
                if body[at].is_ascii_alphanumeric() || !body[at].is_ascii() {
                    body[at] = random.pick(&[0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xff]);
                }
            }
            if let Some((node, _)) = nodes.get(random.index(nodes.len().max(1))) {
                read_all(&body, node);
            }
        }
    }
}
