//! Prompts that people start agents with: what there is to know about a task, as text.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::not_found;
use super::rules::task;
use super::store::{Latest, Scope, Work};
use super::{Caller, Coordinator, Error};
use crate::toolkit::{Arguments, Locale, PromptArgument};

/// A prompt; all its arguments are required.
pub struct Prompt {
    /// The name that clients use.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its arguments.
    pub arguments: &'static [PromptArgument],
    text: fn(&mut Work<'_>, &Arguments, Locale) -> Result<String, Error>,
}

const TASK: PromptArgument = PromptArgument { name: "task_id", description: "The task's id." };

/// All prompts.
pub static PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "task_start",
        title: "Start a task",
        description: "What to know before beginning a task: its context and who worked on it before.",
        arguments: &[TASK, PromptArgument { name: "agent_id", description: "The agent that begins it." }],
        text: task_start,
    },
    Prompt {
        name: "handoff_template",
        title: "Hand a task over",
        description: "A handoff to complete, with the task and what was noted about it.",
        arguments: &[TASK, PromptArgument { name: "from_agent_id", description: "The agent that hands it over." }],
        text: handoff_template,
    },
    Prompt {
        name: "context_summary",
        title: "Summarize a task's context",
        description: "All that was noted about a task.",
        arguments: &[TASK],
        text: context_summary,
    },
];

/// No more notes are shown behind this, bytes: a prompt is to leave room for the work.
const MOST_BYTES: usize = 32 * 1024;

/// Notes and executions that a prompt shows, newest first.
const SHOWN: usize = 10;

impl Coordinator {
    /// The text of a prompt.
    ///
    /// # Errors
    /// [`Error`], when an argument is missing or names what is not there.
    pub async fn prompt(
        self: &Arc<Self>,
        prompt: &'static Prompt,
        given: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<String, Error> {
        let text = |name: &str| {
            given.get(name).and_then(Value::as_str).filter(|text| !text.is_empty() && !text.contains('\0'))
        };
        if let Some(missing) = prompt.arguments.iter().find(|argument| text(argument.name).is_none()) {
            return Err(Error::refused(format!("Argument '{}' is missing.", missing.name)));
        }
        if !caller.has(&[Scope::Agent]) {
            return Err(Error::refused("This prompt is for agents."));
        }
        let (arguments, locale) = (Arguments::unchecked(given.clone()), self.terms.locale);
        let caller = caller.clone();
        let text = move |work: &mut Work<'_>| {
            caller.check(prompt.name, &arguments, work)?;
            (prompt.text)(work, &arguments, locale)
        };
        self.store.read(text).await
    }
}

fn task_start(work: &mut Work<'_>, arguments: &Arguments, locale: Locale) -> Result<String, Error> {
    let mut text = about(work, arguments, locale)?;
    let (task, agent) = named(arguments, "agent_id");
    let agent = work.agent(&agent)?.ok_or_else(|| not_found("Agent", &agent))?;
    heading(&mut text, locale.choose("これまでの作業", "Work so far"));
    let executions = work.executions(Some(&task), None, i64::try_from(SHOWN).unwrap_or_default())?;
    for execution in &executions {
        let (when, agent) = (execution.started_at, &execution.agent_id);
        let _ = writeln!(text, "- {when} {agent}: {}", execution.status.word());
    }
    if executions.is_empty() {
        text.push_str(locale.choose("- なし\n", "- none\n"));
    }
    if let Some(handoff) = work.latest_handoff(&task)? {
        heading(&mut text, locale.choose("最新のハンドオフ", "Latest handoff"));
        let _ = writeln!(text, "{} -> {}", handoff.from_agent_id, handoff.to_agent_id.as_deref().unwrap_or("?"));
        let parts = [Some(&handoff.summary), handoff.context.as_ref(), handoff.recommendations.as_ref()];
        for part in parts.into_iter().flatten() {
            let _ = writeln!(text, "{part}");
        }
    }
    heading(&mut text, locale.choose("進め方", "How to go on"));
    let _ = write!(
        text,
        "{}",
        locale.choose(
            format!("あなたは {} ({}) です。途中経過は save_context で記録し、完了したら report_completed を呼び出してください。\n", agent.name, agent.id),
            format!("You are {} ({}). Note how you get on with save_context, and call report_completed when you are done.\n", agent.name, agent.id),
        )
    );
    Ok(text)
}

fn handoff_template(work: &mut Work<'_>, arguments: &Arguments, locale: Locale) -> Result<String, Error> {
    let mut text = about(work, arguments, locale)?;
    let (task, from) = named(arguments, "from_agent_id");
    let from = work.agent(&from)?.ok_or_else(|| not_found("Agent", &from))?;
    let latest = work.latest_context(&task)?.unwrap_or_default();
    heading(&mut text, locale.choose("create_handoff の引数", "Arguments of create_handoff"));
    let blank = locale.choose("（記入してください）", "(fill in)");
    let filled = |field: &Option<String>| field.clone().unwrap_or_else(|| blank.to_owned());
    let _ = write!(
        text,
        "task_id: {task}\nfrom_agent_id: {}\nto_agent_id: {blank}\nsummary: {}\ncontext: {}\nrecommendations: {}\n",
        from.id,
        filled(&latest.progress),
        filled(&latest.findings),
        filled(&latest.next_steps),
    );
    Ok(text)
}

fn context_summary(work: &mut Work<'_>, arguments: &Arguments, locale: Locale) -> Result<String, Error> {
    let mut text = about(work, arguments, locale)?;
    let (task, _) = named(arguments, "");
    heading(&mut text, locale.choose("記録（新しい順）", "Notes, newest first"));
    for note in work.contexts(&task)?.into_iter().take(SHOWN) {
        if text.len() > MOST_BYTES {
            break;
        }
        let _ = writeln!(text, "- {}", note.created_at);
        let fields = Latest {
            progress: note.progress,
            findings: note.findings,
            blockers: note.blockers,
            next_steps: note.next_steps,
        };
        show(&mut text, "  ", &fields);
    }
    Ok(text)
}

/// The task, and what was noted about it last.
fn about(work: &mut Work<'_>, arguments: &Arguments, locale: Locale) -> Result<String, Error> {
    let (id, _) = named(arguments, "");
    let task = task::find(work, &id)?;
    let (status, priority) = (task.status.word(), task.priority.word());
    let mut text = format!("# {} ({})\n{status}, {priority}\n", task.title, task.id);
    if let Some(description) = &task.description {
        let _ = writeln!(text, "{description}");
    }
    heading(&mut text, locale.choose("現在のコンテキスト", "Context"));
    match work.latest_context(&id)? {
        Some(latest) => show(&mut text, "", &latest),
        None => text.push_str(locale.choose("なし\n", "none\n")),
    }
    Ok(text)
}

fn show(text: &mut String, indent: &str, fields: &Latest) {
    let Latest { progress, findings, blockers, next_steps } = fields;
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

fn named(arguments: &Arguments, agent: &str) -> (String, String) {
    let text = |name| arguments.text(name).unwrap_or_default();
    (text("task_id"), text(agent))
}
