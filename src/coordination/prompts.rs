//! Prompts for starting or handing over a task: what is known about it, as text.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::not_found;
use super::rules::task;
use super::store::{Agent, LatestContext, Scope, Work};
use super::tool::required_text;
use super::{Caller, Coordinator, Error};
use crate::toolkit::{Arguments, PromptArgument};

/// A prompt. All its arguments are required.
pub struct Prompt {
    /// The name used in requests.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// What the prompt is for.
    pub description: &'static str,
    /// Its arguments.
    pub arguments: &'static [PromptArgument],
    text: fn(&mut Work<'_>, &Arguments) -> Result<String, Error>,
}

const TASK: PromptArgument = PromptArgument { name: "task_id", description: "The task's id." };

/// All prompts.
pub static PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "task_start",
        title: "Start a task",
        description: "What an agent should know before it starts a task: its context and its history.",
        arguments: &[TASK, PromptArgument { name: "agent_id", description: "The agent that starts the task." }],
        text: task_start,
    },
    Prompt {
        name: "handoff_template",
        title: "Hand a task over",
        description: "A handoff template, prefilled with the task and its current context.",
        arguments: &[
            TASK,
            PromptArgument { name: "from_agent_id", description: "The agent that hands the task over." },
        ],
        text: handoff_template,
    },
    Prompt {
        name: "context_summary",
        title: "Summarize a task's context",
        description: "A task's current context and its last saved notes.",
        arguments: &[TASK],
        text: context_summary,
    },
];

/// Once a prompt has this many bytes, no more notes are added: it must leave room for the work.
const MAX_BYTES: usize = 32 * 1024;

/// The maximum number of notes or executions in a prompt.
const MAX_ENTRIES: usize = 10;

impl Coordinator {
    /// The text of a prompt.
    ///
    /// # Errors
    /// [`Error::Refused`] if an argument is missing, names an unknown task or agent, or the caller may not use
    /// the prompt. [`Error::Store`] if the database cannot be read.
    pub async fn prompt(
        self: &Arc<Self>,
        prompt: &'static Prompt,
        arguments: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<String, Error> {
        let text = |name: &str| {
            arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty() && !text.contains('\0'))
        };
        if let Some(missing) = prompt.arguments.iter().find(|argument| text(argument.name).is_none()) {
            return Err(Error::refused(format!("PromptArgument '{}' is missing.", missing.name)));
        }
        if !caller.has_any_scope(&[Scope::Agent]) {
            return Err(Error::refused("This prompt is only for agents."));
        }
        let (arguments, reader) = (Arguments::unchecked(arguments.clone()), caller.clone());
        let text = move |work: &mut Work<'_>| {
            reader.check(prompt.name, &arguments, work)?;
            (prompt.text)(work, &arguments)
        };
        self.store.read(self.call_limit.admit(caller, text).await).await
    }
}

fn task_start(work: &mut Work<'_>, arguments: &Arguments) -> Result<String, Error> {
    let task = required_text(arguments, "task_id");
    let mut text = task_and_context(work, &task)?;
    let agent = agent(work, &required_text(arguments, "agent_id"))?;
    heading(&mut text, "Work so far");
    let executions = work.executions(Some(&task), None, i64::try_from(MAX_ENTRIES).unwrap_or_default())?;
    for execution in &executions {
        let (when, agent) = (execution.started_at, &execution.agent_id);
        let _ = writeln!(text, "- {when} {agent}: {}", execution.status.as_str());
    }
    if executions.is_empty() {
        text.push_str("- none\n");
    }
    if let Some(handoff) = work.latest_handoff(&task)? {
        heading(&mut text, "Latest handoff");
        let _ = writeln!(text, "{} -> {}", handoff.from_agent_id, handoff.to_agent_id.as_deref().unwrap_or("?"));
        let parts = [Some(&handoff.summary), handoff.context.as_ref(), handoff.recommendations.as_ref()];
        for part in parts.into_iter().flatten() {
            let _ = writeln!(text, "{part}");
        }
    }
    heading(&mut text, "Next steps");
    let _ = writeln!(
        text,
        "You are {} ({}). Record your progress with save_context, and call report_completed when you are done.",
        agent.name, agent.id
    );
    Ok(text)
}

fn handoff_template(work: &mut Work<'_>, arguments: &Arguments) -> Result<String, Error> {
    const BLANK: &str = "(fill in)";
    let task = required_text(arguments, "task_id");
    let mut text = task_and_context(work, &task)?;
    let from = agent(work, &required_text(arguments, "from_agent_id"))?;
    let latest = work.latest_context(&task)?.unwrap_or_default();
    heading(&mut text, "Arguments of create_handoff");
    let filled = |field: &Option<String>| field.clone().unwrap_or_else(|| BLANK.to_owned());
    let _ = write!(
        text,
        "task_id: {task}\nfrom_agent_id: {}\nto_agent_id: {BLANK}\nsummary: {}\ncontext: {}\nrecommendations: {}\n",
        from.id,
        filled(&latest.progress),
        filled(&latest.findings),
        filled(&latest.next_steps),
    );
    Ok(text)
}

fn context_summary(work: &mut Work<'_>, arguments: &Arguments) -> Result<String, Error> {
    let task = required_text(arguments, "task_id");
    let mut text = task_and_context(work, &task)?;
    heading(&mut text, "Notes, newest first");
    for note in work.contexts(&task)?.into_iter().take(MAX_ENTRIES) {
        if text.len() > MAX_BYTES {
            break;
        }
        let _ = writeln!(text, "- {}", note.created_at);
        let fields = LatestContext {
            progress: note.progress,
            findings: note.findings,
            blockers: note.blockers,
            next_steps: note.next_steps,
        };
        show(&mut text, "  ", &fields);
    }
    Ok(text)
}

/// The beginning of every prompt: the task and its current context.
fn task_and_context(work: &mut Work<'_>, id: &str) -> Result<String, Error> {
    let task = task::find(work, id)?;
    let (status, priority) = (task.status.as_str(), task.priority.as_str());
    let mut text = format!("# {} ({})\n{status}, {priority}\n", task.title, task.id);
    if let Some(description) = &task.description {
        let _ = writeln!(text, "{description}");
    }
    heading(&mut text, "Context");
    match work.latest_context(id)? {
        Some(latest) => show(&mut text, "", &latest),
        None => text.push_str("none\n"),
    }
    Ok(text)
}

fn show(text: &mut String, indent: &str, fields: &LatestContext) {
    let LatestContext { progress, findings, blockers, next_steps } = fields;
    let all = [("progress", progress), ("findings", findings), ("blockers", blockers), ("next_steps", next_steps)];
    for (name, value) in all {
        if let Some(value) = value {
            let _ = writeln!(text, "{indent}{name}: {value}");
        }
    }
}

fn heading(text: &mut String, heading: &str) {
    let _ = writeln!(text, "\n## {heading}");
}

fn agent(work: &mut Work<'_>, id: &str) -> Result<Agent, Error> {
    work.agent(id)?.ok_or_else(|| not_found("Agent", id))
}
