//! Prompts for starting or handing over a task, with everything known about it as text.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::caller::Concern;
use super::rules::{find_agent, task};
use super::store::{Agent, LatestContext, Scope, Work};
use super::tool::{ReadRule, Rule, rule};
use super::tools::TASK_ID;
use super::{Caller, Coordinator, Error, SessionPolicy};
use crate::toolkit::{Arguments, Parameter, Text, Words, arguments};

/// A prompt. All its arguments are required.
pub struct TaskPrompt {
    /// The name used in requests.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// What the prompt is for.
    pub description: &'static str,
    /// Its arguments.
    pub parameters: &'static [Parameter],
    rule: ReadRule<String>,
}

/// All prompts.
pub static PROMPTS: [TaskPrompt; 3] = [
    TaskPrompt {
        name: "task_start",
        title: "Start a task",
        description: "What an agent should know before it starts a task: its context and its history.",
        parameters: TaskStart::PARAMETERS,
        rule: rule::<TaskStart, _>,
    },
    TaskPrompt {
        name: "handoff_template",
        title: "Hand a task over",
        description: "A handoff template, prefilled with the task and its current context.",
        parameters: HandoffTemplate::PARAMETERS,
        rule: rule::<HandoffTemplate, _>,
    },
    TaskPrompt {
        name: "context_summary",
        title: "Summarize a task's context",
        description: "A task's current context and its last saved notes.",
        parameters: ContextSummary::PARAMETERS,
        rule: rule::<ContextSummary, _>,
    },
];

arguments! {
    struct TaskStart: snake_case {
        task_id: Text = TASK_ID,
        agent_id: Text = "The agent that starts the task.",
    }
}

arguments! {
    struct HandoffTemplate: snake_case {
        task_id: Text = TASK_ID,
        from_agent_id: Text = "The agent that hands the task over.",
    }
}

arguments! {
    struct ContextSummary: snake_case {
        task_id: Text = TASK_ID,
    }
}

/// Once a prompt has this many bytes, no more notes are added: it must leave room for the work.
const MAX_BYTES: usize = 32 * 1024;

/// The maximum number of notes or executions in a prompt.
const MAX_ENTRIES: usize = 10;

impl Coordinator {
    /// The text of a prompt.
    ///
    /// # Errors
    /// [`Error::Argument`] if an argument is missing, [`Error::Refused`] if one names an unknown task or agent, or the
    /// caller may not use the prompt. [`Error::Store`] if the database cannot be read.
    pub async fn prompt(
        self: &Arc<Self>,
        prompt: &'static TaskPrompt,
        mut arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<String, Error> {
        // No id contains U+0000, which PostgreSQL cannot compare.
        arguments.retain(|_, value| value.as_str().is_some_and(|text| !text.contains('\0')));
        let rule = (prompt.rule)(Arguments::of_prompt(arguments))?;
        if !caller.has_any_scope(&[Scope::Agent]) {
            return Err(Error::refused("This prompt is only for agents."));
        }
        let (reader, policy) = (caller.clone(), self.policy);
        let text = move |work: &mut Work<'_>| {
            reader.check(&rule.concerns(), work)?;
            rule.run(work, &policy)
        };
        self.store.read(self.call_limit.admit(caller, text).await).await
    }
}

impl Rule<String> for TaskStart {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Task(&self.task_id), Concern::Agent(&self.agent_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<String, Error> {
        let mut text = task_and_context(work, &self.task_id)?;
        let agent = agent(work, &self.agent_id)?;
        heading(&mut text, "Work so far");
        let executions = work.executions(Some(&self.task_id), None, i64::try_from(MAX_ENTRIES).unwrap_or_default())?;
        for execution in &executions {
            let (when, agent) = (execution.started_at, &execution.agent_id);
            let _ = writeln!(text, "- {when} {agent}: {}", execution.status.word());
        }
        if executions.is_empty() {
            text.push_str("- none\n");
        }
        if let Some(handoff) = work.latest_handoff(&self.task_id)? {
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
}

impl Rule<String> for HandoffTemplate {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Task(&self.task_id), Concern::Agent(&self.from_agent_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<String, Error> {
        const BLANK: &str = "(fill in)";
        let mut text = task_and_context(work, &self.task_id)?;
        let from = agent(work, &self.from_agent_id)?;
        let latest = work.latest_context(&self.task_id)?.unwrap_or_default();
        heading(&mut text, "Arguments of create_handoff");
        let filled = |field: &Option<String>| field.clone().unwrap_or_else(|| BLANK.to_owned());
        let _ = write!(
            text,
            "task_id: {}\nfrom_agent_id: {}\nto_agent_id: {BLANK}\nsummary: {}\ncontext: {}\nrecommendations: {}\n",
            self.task_id,
            from.id,
            filled(&latest.progress),
            filled(&latest.findings),
            filled(&latest.next_steps),
        );
        Ok(text)
    }
}

impl Rule<String> for ContextSummary {
    fn concerns(&self) -> Vec<Concern<'_>> {
        vec![Concern::Task(&self.task_id)]
    }

    fn run(&self, work: &mut Work<'_>, _policy: &SessionPolicy) -> Result<String, Error> {
        let mut text = task_and_context(work, &self.task_id)?;
        heading(&mut text, "Notes, newest first");
        for note in work.contexts(&self.task_id)?.into_iter().take(MAX_ENTRIES) {
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
}

/// The beginning of every prompt: the task and its current context.
fn task_and_context(work: &mut Work<'_>, id: &str) -> Result<String, Error> {
    let task = task::find(work, id)?;
    let (status, priority) = (task.status.word(), task.priority.word());
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
    find_agent(work, id)
}
