//! How much of a stored text is read.

use std::fs::File;
use std::io;

use n8n_lens::execution::node::NodeProjection;
use n8n_lens::execution::summary::SummaryProjection;
use n8n_lens::json::ReadAt;

use super::read_from;
use crate::large_store::LargeStore;

/// A file that counts the bytes that are read of it.
struct Counting {
    file: File,
    read: u64,
    /// The end of what was read.
    reached: u64,
}

impl ReadAt for Counting {
    fn len(&self) -> u64 {
        ReadAt::len(&self.file)
    }

    fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read += buffer.len() as u64;
        self.reached = self.reached.max(position + buffer.len() as u64);
        self.file.read_at(position, buffer)
    }
}

#[test]
fn a_summary_reads_the_beginning_and_a_node_reads_the_text_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.flatted");
    let large = LargeStore { nodes: 6, items: 3000, text: 2000 };
    large.write_to(&file);
    let open = || Counting { file: File::open(&file).unwrap(), read: 0, reached: 0 };
    let stored = LargeStore::stored();

    let mut data = open();
    let summary = read_from(&SummaryProjection, &stored, &mut data, false).unwrap();
    assert_eq!(summary.nodes.iter().map(|node| node.items).collect::<Vec<_>>(), [3000; 6]);
    let len = data.len();
    // The items themselves come first, without what is in them.
    assert!(data.read * 8 < len && data.read < data.reached + 100, "{} bytes of {len}", data.read);

    for window in [0..50, 1500..1550, 2950..3000] {
        let node = LargeStore::node_name(4);
        let projection = NodeProjection { node, window, ..NodeProjection::default() };
        let mut data = open();
        let view = read_from(&projection, &stored, &mut data, false).unwrap().node.unwrap();
        assert_eq!(view.run.unwrap().outputs.lists[0].total, 3000);
        assert_eq!(view.inputs[0].list.as_ref().unwrap().total, 3000);
        // It is scanned as far as the last item; chunks near the beginning are read again for what is in them.
        let again = data.read.saturating_sub(data.reached);
        assert!(again * 5 < len, "{} bytes of {len} up to {}", data.read, data.reached);
    }
}
