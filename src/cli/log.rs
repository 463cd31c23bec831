//! The log on standard error; on a terminal, warnings are sentences.

use std::fmt::{self, Debug, Write};
use std::io::{IsTerminal, stderr};

use anstream::{AutoStream, ColorChoice};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use super::terminal::{LogWriter, plain};

/// Erases the line, on which a progress bar may be, and returns to its first column.
const ERASE_LINE: &str = "\u{1b}[2K\u{1b}[G";

/// Logs to standard error. Other crates only warn, and rmcp is silenced: it logs whole messages and complete URLs.
pub(super) fn install(level: LevelFilter) {
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("rmcp", LevelFilter::OFF)
        .with_target("n8n_lens", level);
    let has_colors = AutoStream::choice(&stderr()) != ColorChoice::Never;
    let layer = tracing_subscriber::fmt::layer().with_writer(|| LogWriter).with_ansi(has_colors);
    let layer = match stderr().is_terminal() {
        true => layer.event_format(ForPeople(Format::default())).boxed(),
        false => layer.boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(targets)).init();
}

/// Warnings and errors as sentences, without time and module path; more detailed levels use the usual format.
struct ForPeople(Format);

impl<S, N> FormatEvent<S, N> for ForPeople
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if *event.metadata().level() > Level::WARN {
            return self.0.format_event(context, to, event);
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        writeln!(to, "{ERASE_LINE}n8n-lens: {}", plain(&fields.into_sentences()))
    }
}

/// The fields of an event.
#[derive(Default)]
struct Fields {
    message: String,
    error: Option<String>,
    others: Vec<String>,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            "error" => self.error = Some(value.to_owned()),
            name => self.others.push(format!("{name}: {value}")),
        }
    }
}

impl Fields {
    /// The error, and its consequence.
    fn into_sentences(self) -> String {
        let mut message = self.message;
        if !self.others.is_empty() {
            let _ = write!(message, " ({})", self.others.join(", "));
        }
        self.error.into_iter().chain([message]).map(|text| sentence(&text)).collect::<Vec<_>>().join(" ")
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase).into_iter().flatten();
    let mut sentence: String = first.chain(chars).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
