//! Two small packages in the shape of n8n's, for the tests of this folder.

use super::{Catalogue, build};

const BASE: &str = r#"[
  {"name": "if", "displayName": "If", "description": "Sends items one way or the other", "version": [1, 2],
   "group": ["transform"], "codex": {"categories": ["Core Nodes"], "subcategories": {"Core Nodes": ["Flow"]}},
   "inputs": ["main"], "outputs": ["main", "main"], "outputNames": ["true", "false"]},
  {"name": "switch", "displayName": "Switch", "description": "Sends items along many ways", "version": 1,
   "group": ["transform"], "inputs": ["main"], "outputs": ["main", "main"], "outputNames": ["a", "b"]},
  {"name": "switch", "displayName": "Switch", "description": "Sends items along many ways", "version": 2,
   "group": ["transform"], "inputs": ["main"], "outputs": "={{ (p) => [{type: 'main'}] }}"},
  {"name": "switch", "displayName": "Switch", "description": "Sends items along many ways", "version": [3, 3.2],
   "group": ["transform"], "codex": {"categories": ["Core Nodes"], "subcategories": ["Flow"]},
   "inputs": ["main"], "outputs": "={{ (p) => [{type: 'main'}] }}"},
  {"name": "merge", "displayName": "Merge", "description": "Brings branches together", "version": [3],
   "inputs": "={{ (p) => Array(p.n).fill('main') }}", "outputs": ["main"]},
  {"name": "splitInBatches", "displayName": "Over And Over", "description": "Takes some items at a time", "version": 3,
   "inputs": ["main"], "outputs": ["main", "main"], "outputNames": ["done", "loop"]},
  {"name": "splitInBatches", "displayName": "Over And Over", "description": "Takes some items at a time", "version": 1,
   "inputs": ["main"], "outputs": ["main"]},
  {"name": "httpRequest", "displayName": "HTTP Request", "description": "Asks any server", "version": [4, 4.2],
   "defaultVersion": 4.2, "group": ["output"], "inputs": ["main"], "outputs": ["main"]},
  {"name": "httpRequest", "displayName": "HTTP Request", "description": "Asks any server", "version": 5,
   "defaultVersion": 4.2, "group": ["output"], "inputs": ["main"], "outputs": ["main"]},
  {"name": "webhook", "displayName": "Webhook", "description": "Is called by others", "version": [1, 2],
   "group": ["trigger"], "inputs": [], "outputs": "={{ (m) => ['main'] }}", "webhooks": [{"path": "x"}]},
  {"name": "respondToWebhook", "displayName": "Respond", "description": "Answers a caller", "version": [1.3, 1.5],
   "inputs": ["main"], "outputs": "={{ (v) => ['main'] }}"},
  {"name": "evaluation", "displayName": "Evaluation", "description": "Grades a run", "version": 1,
   "inputs": ["main"], "outputs": "={{ (v) => ['main'] }}"},
  {"name": "chatter", "displayName": "Chatter", "description": "Talks to a room", "version": [1, 2],
   "group": ["output"], "usableAsTool": true, "webhooks": [{"path": "x"}], "inputs": ["main"], "outputs": ["main"],
   "codex": {"categories": ["Talk"], "alias": ["message"],
    "subcategories": {"Talk": ["Chat"], "AI": ["Human review", "Chat"]}},
   "credentials": [{"name": "chatterApi"}, {"name": "chatterOAuth2Api"}, {"name": "chatterApi"}],
   "properties": [{"name": "operation", "type": "options", "options": [{"value": "post"}, {"value": "sendAndWait"}]}]},
  {"name": "chatterTrigger", "displayName": "Chatter Trigger", "description": "Hears a message in a room", "version": 1,
   "group": ["trigger"], "inputs": [], "outputs": ["main"]},
  {"name": "mailer", "displayName": "Mailer", "description": "Posts letters", "version": 1, "group": ["output"],
   "usableAsTool": {"replacements": {}}, "webhooks": [{"path": "x"}], "inputs": ["main"], "outputs": ["main"]},
  {"name": "oldTimer", "displayName": "Old Timer", "description": "Ticks", "version": 1, "hidden": true,
   "inputs": [], "outputs": ["main"]},
  {"name": "e2eProbe", "displayName": "Probe", "description": "Is for tests", "version": 1,
   "inputs": [], "outputs": ["main"]}
]"#;

const AI: &str = r#"[
  {"name": "agent", "displayName": "Thinker", "description": "Thinks in steps", "version": [1, 2],
   "inputs": "={{ (p) => ['main', 'ai_languageModel', 'ai_tool'] }}", "outputs": ["main"]},
  {"name": "coder", "displayName": "Coder", "description": "Runs a snippet", "version": 1,
   "inputs": ["main"], "outputs": "={{ ['ai_tool'] }}"},
  {"name": "modelSelector", "displayName": "Selector", "description": "Picks a model", "version": 1,
   "inputs": "={{ ['ai_languageModel'] }}", "outputs": ["ai_languageModel"]},
  {"name": "textClassifier", "displayName": "Classifier", "description": "Sorts letters", "version": 1,
   "inputs": ["main", {"type": "ai_languageModel", "displayName": "Model"}], "outputs": "={{ ['main'] }}"},
  {"name": "sentimentAnalysis", "displayName": "Mood", "description": "Tells the mood", "version": 1,
   "inputs": ["main"], "outputs": "={{ ['main'] }}"},
  {"name": "guardrails", "displayName": "Guardrails", "description": "Lets good things pass", "version": 1,
   "inputs": ["main"], "outputs": "={{ ['main'] }}"},
  {"name": "vectorStoreMemory", "displayName": "Memory Store", "description": "Keeps vectors", "version": 1,
   "inputs": ["main"], "outputs": "={{ [p.tool ? 'ai_tool' : p.store ? 'ai_vectorStore' : 'main'] }}"}
]"#;

/// The catalogue of both packages.
pub(super) fn catalogue() -> Catalogue {
    build(&[("base", "2.0.0", BASE.as_bytes()), ("@acme/ai", "2.1.0", AI.as_bytes())]).unwrap()
}
