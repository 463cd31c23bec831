//! The workflow that an execution ran.

use crate::blocking::blocking;
use crate::execution::Header;
use crate::n8n::Progress;
use crate::tools::Context;
use crate::workflow::Document;
use crate::workflow::parsed::Parsed;
use crate::workflow::revision::could_be_same;

/// The workflow that an execution ran.
pub(in crate::tools) struct RanWorkflow {
    /// With its nodes as they were saved, if n8n still has that version; otherwise as the execution has it.
    pub document: Document,
    /// As the execution has it, with every default filled in and without hidden parameters; `None` if `document` is that.
    pub executed: Option<Document>,
}

/// The workflow that an execution ran. The execution contains a copy of it (`executed`, JSON), and `header` its version. A
/// version that is `at_hand` is not read again. `None` if neither is available.
///
/// When n8n runs a workflow, it fills in every default and leaves out what its editor hides (`getNodeParameters` in
/// `packages/workflow/src/node-helpers.ts`). Later changes are only visible against the version as it was saved. The
/// saved version of a manual execution may not be the one that ran: it is ignored if it differs.
pub(in crate::tools) async fn workflow_that_ran(
    context: &Context,
    header: &Header,
    executed: Option<Vec<u8>>,
    at_hand: Option<&Document>,
    progress: &Progress,
) -> Option<RanWorkflow> {
    let saved = saved_version(context, header, at_hand, progress).await;
    // Parsing a large workflow takes time.
    blocking(move || {
        let executed = executed.and_then(|json| Document::parse(&json).ok());
        match (executed, saved) {
            (Some(executed), Some(saved)) if is_of(&saved, &executed) => {
                let mut document = executed.clone();
                document.take_nodes_of(&saved);
                Some(RanWorkflow { document, executed: Some(executed) })
            }
            (executed, saved) => Some(RanWorkflow { document: executed.or(saved)?, executed: None }),
        }
    })
    .await
}

async fn saved_version(
    context: &Context,
    header: &Header,
    at_hand: Option<&Document>,
    progress: &Progress,
) -> Option<Document> {
    let (id, version) = (header.workflow_id.as_deref()?, header.workflow_version.as_deref()?);
    if let Some(document) = at_hand.filter(|document| document.version().as_deref() == Some(version)) {
        return Some(document.clone());
    }
    let text = context.n8n().ok()?.workflow_version_text(id, version, progress).await.ok()?;
    Document::parse(&text).ok()
}

/// Whether a saved version can be the one that an execution ran.
fn is_of(saved: &Document, executed: &Document) -> bool {
    let parsed = (Parsed::of(saved), Parsed::of(executed));
    matches!(parsed, (Ok(saved), Ok(executed)) if could_be_same(&saved.nodes, &executed.nodes))
}
