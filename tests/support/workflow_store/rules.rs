//! What n8n's public API accepts as a workflow, and its error messages for anything else.
