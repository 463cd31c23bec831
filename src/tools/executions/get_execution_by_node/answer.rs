//! The answer about a node within its budget.

use super::allotment;
use super::data::{InputSection, NodeAnswer, OutputSection, ShownOutput, ShownRun, ShownSource};
use super::entry_lists::{EntryList, EntryLists, Pages};
use super::section::Section;
use super::{NodeQuery, Output};
use crate::budget::{self, Entry, Ladder, Page, PageLimits};
use crate::execution::Run;
use crate::execution::node::{Input, Node};
use crate::execution::{STACK_LINES, shorten_stack, unescape_texts};
use crate::json::{CUT_NAME_CHARS, Excerpt, number, shorten_name};
use crate::secrets::redact;
use crate::toolkit::Locale;
use crate::toolkit::answer::{Truncated, json, success};
use crate::tools::Error;
use crate::units::{counted, iso};

/// The parts of the answer about a node.
pub(super) struct Answer<'a> {
    id: &'a str,
    node: &'a Node,
    run: &'a Run,
    outputs: &'a [Output<'a>],
    query: &'a NodeQuery,
    input: Section,
    output: Section,
}

/// An answer as it is sent, and what it shows.
pub(super) struct Written {
    pub(super) text: String,
    /// How many items of inputs and of outputs; `None` if a row is not whole.
    shown: [Option<usize>; 2],
}

impl AsRef<str> for Written {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Written {
    /// Whether it shows at least as many items of inputs, and of outputs, as another answer, and no row is cut.
    pub(super) fn shows_as_much_as(&self, other: &Self) -> bool {
        self.shown.iter().zip(&other.shown).all(|(own, other)| own.is_some() && own >= other)
    }
}

impl<'a> Answer<'a> {
    pub(super) fn new(
        id: &'a str,
        node: &'a Node,
        run: &'a Run,
        outputs: &'a [Output<'a>],
        query: &'a NodeQuery,
    ) -> Result<Self, Error> {
        let tag_inputs = node.inputs.len() > 1;
        let tag_outputs = run.outputs.lists.len() > 1;
        let input = node.inputs.iter().map(|input| {
            let tag = tag_inputs.then_some(("inputIndex", input.index));
            match &input.list {
                Some(list) if query.part.has_input() => EntryList::new(list, tag, query),
                list => Ok(EntryList::counted(list.as_ref().map_or(0, |list| list.total))),
            }
        });
        let output = outputs.iter().map(|output| {
            let tag = tag_outputs.then_some(("outputIndex", output.index));
            match query.part.has_output() {
                true => EntryList::new(output.list, tag, query),
                false => Ok(EntryList::counted(output.list.total)),
            }
        });
        Ok(Self {
            input: Section::new(EntryLists(input.collect::<Result<_, _>>()?), query.part.has_input()),
            output: Section::new(EntryLists(output.collect::<Result<_, _>>()?), query.part.has_output()),
            id,
            node,
            run,
            outputs,
            query,
        })
    }

    /// The same answer with items as rows.
    pub(super) fn into_rows(self) -> Self {
        Self { input: self.input.into_rows(), output: self.output.into_rows(), ..self }
    }

    /// The answer within a limit, tokens.
    pub(super) fn within(&self, limit: usize) -> Written {
        if let Some(whole) = self.whole(limit) {
            return whole;
        }
        let envelope = self.envelope(limit);
        // Fewer are rarely needed: the tokens of the parts add up to those of the whole almost exactly. No items at last.
        let fewer = |tokens: usize| Some(tokens - tokens / 32 - 8).filter(|fewer| *fewer > limit * 3 / 4);
        let ladder = Ladder::new(Some(limit)).then(|tokens| tokens.map(fewer));
        let write =
            |tokens: Option<usize>| tokens.map_or_else(|| self.bare(envelope), |tokens| self.filled(tokens, envelope));
        ladder.largest_that_fits(limit, write).answer
    }

    /// The answer with everything that was read, if it has no more bytes than the limit has tokens: most nodes are
    /// small and need no counting.
    fn whole(&self, limit: usize) -> Option<Written> {
        self.whole_of_at_most(limit).filter(|whole| whole.text.len() <= limit)
    }

    /// The answer with everything that was read, if that fits.
    pub(super) fn whole_within(&self, limit: usize) -> Option<Written> {
        self.whole_of_at_most(budget::ANSWER_BYTES).filter(|whole| budget::fits(&whole.text, limit))
    }

    /// The answer with everything that was read; `None` if it certainly exceeds this many bytes.
    fn whole_of_at_most(&self, bytes: usize) -> Option<Written> {
        let entries = self.input.lists.entries().chain(self.output.lists.entries()).map(|entry| &entry.value);
        let values = entries.chain(&self.run.error).chain(&self.node.parameters);
        if values.map(Excerpt::least_json_bytes).sum::<usize>() > bytes {
            return None;
        }
        let whole = |entries: Vec<Entry>, none| if entries.is_empty() { page(none) } else { budget::whole(&entries) };
        let (error, parameters) = (whole(self.error(), "null"), whole(self.parameters(), "{}"));
        let (input, output) = (self.input.lists.whole(), self.output.lists.whole());
        Some(self.write(Envelope::WHOLE, &error, &parameters, &input, &output))
    }

    /// The answer without anything that can be clipped.
    fn bare(&self, envelope: Envelope) -> Written {
        self.write(envelope, &page("null"), &page("{}"), &Pages(Vec::new()), &Pages(Vec::new()))
    }

    /// An envelope that uses at most half of the budget, however long the names are.
    fn envelope(&self, limit: usize) -> Envelope {
        Envelope::ladder().largest_that_fits(limit / 2, |envelope| self.bare(envelope)).size
    }

    /// The answer within about `tokens` tokens: the error and parameters get what they need, at most three quarters or whatever
    /// the items leave over; the rest is for the items ([`allotment`]).
    fn filled(&self, tokens: usize, envelope: Envelope) -> Written {
        let bare = self.bare(envelope).text;
        let left = tokens.saturating_sub(budget::count(&bare) + MARGIN_TOKENS);
        let room = budget::ANSWER_BYTES.saturating_sub(bare.len() + MARGIN_BYTES);
        let limits = |tokens: usize| PageLimits { tokens, bytes: room * tokens / left.max(1), chars: usize::MAX };
        let (output_needs, input_needs) = (self.output.lists.needs(limits(left)), self.input.lists.needs(limits(left)));
        let total: usize = output_needs.iter().chain(&input_needs).map(|need| need.all.tokens).sum();
        let most = left - left / 4;
        let (error, parameters) = self.surroundings(limits(most.max(left.saturating_sub(total))));
        let used = |page: &Page| budget::count(&page.text);
        let left = left.saturating_sub(used(&error) + used(&parameters));
        let [outputs, inputs] = allotment::divide(left, [&output_needs, &input_needs], || {
            [&self.output, &self.input].map(|section| section.lists.least(limits(left)))
        });
        let output = self.output.lists.fill(limits(left), &outputs, &output_needs);
        let input = self.input.lists.fill(limits(left), &inputs, &input_needs);
        self.write(envelope, &error, &parameters, &input, &output)
    }

    /// The run's error, if there is one.
    fn error(&self) -> Vec<Entry> {
        let mut error = self.run.error.clone();
        error.iter_mut().for_each(|error| match self.query.for_people {
            true => unescape_texts(error),
            false => shorten_stack(error, STACK_LINES),
        });
        error.into_iter().map(|value| Entry { value, tag: None }).collect()
    }

    /// The node's parameters, if they are an object.
    fn parameters(&self) -> Vec<Entry> {
        let objects = self.node.parameters.iter().filter(|value| matches!(value, Excerpt::Object { .. }));
        let mut objects: Vec<_> = objects.cloned().collect();
        if self.query.redact {
            objects.iter_mut().for_each(redact::item);
        }
        objects.into_iter().map(|value| Entry { value, tag: None }).collect()
    }

    /// The error and the parameters within a limit.
    fn surroundings(&self, limits: PageLimits) -> (Page, Page) {
        let (error, parameters) = (self.error(), self.parameters());
        let needs = [budget::need(&error, limits), budget::need(&parameters, limits)];
        let shares = budget::shares(limits.tokens, &needs.map(|need| need.tokens));
        let fill = |entries: &[Entry], at: usize, none| {
            if entries.is_empty() {
                return page(none);
            }
            budget::fill(entries, PageLimits { tokens: shares[at], ..limits }, needs[at])
        };
        (fill(&error, 0, "null"), fill(&parameters, 1, "{}"))
    }

    fn write(&self, envelope: Envelope, error: &Page, parameters: &Page, input: &Pages, output: &Pages) -> Written {
        let name = envelope.name(&self.node.name);
        let message = match self.query.locale {
            Locale::Ja => format!("ノード '{name}' の実行詳細を取得しました"),
            Locale::En => format!("Execution details of node '{name}' retrieved"),
        };
        let run = self.run;
        let text = success(
            &message,
            &NodeAnswer {
                execution_id: self.id,
                node_name: name,
                node_type: envelope.name(self.node.node_type.as_deref().unwrap_or("unknown")),
                status: envelope.name(&run.status),
                pinned: self.node.pinned,
                execution_time: run.execution_time.map(number),
                start_time: run.start_ms().and_then(iso),
                end_time: run.start_ms().zip(run.execution_time).and_then(|(start, time)| iso(start + time)),
                run: ShownRun {
                    index: run.index,
                    total: self.node.runs,
                    failed: &self.node.failed,
                    sub_execution: run.sub_execution.as_deref(),
                },
                truncated: self.truncated(envelope, error, parameters, input, output),
                error: json(&error.text),
                input: self.shown_input(envelope, input),
                output: self.shown_output(envelope, output),
                parameters: json(&parameters.text),
            },
        );
        Written { text, shown: [self.input.count(input), self.output.count(output)] }
    }

    fn shown_input(&self, envelope: Envelope, pages: &Pages) -> InputSection {
        let shown = |input: &Input| {
            let source = input.source.as_ref()?;
            Some(ShownSource {
                input_index: input.index,
                node_name: envelope.name(&source.node),
                output_index: source.output,
                run_index: source.run,
                total: input.list.as_ref().map_or(0, |list| list.total),
                offset: self.offset(),
            })
        };
        InputSection {
            total: self.input.lists.0.iter().map(|list| list.total).sum(),
            items: self.input.shown(pages),
            sources: self.node.inputs.iter().filter_map(shown).take(envelope.listed).collect(),
        }
    }

    fn shown_output(&self, envelope: Envelope, pages: &Pages) -> OutputSection {
        let shown = |(at, output): (usize, &Output)| ShownOutput {
            output_index: output.index,
            total: output.list.total,
            offset: self.offset(),
            returned: pages.shown(at),
            label: output.label.map(|label| envelope.name(label)),
            connection: Some(output.list.connection.as_str())
                .filter(|connection| *connection != "main")
                .map(|connection| envelope.name(connection)),
        };
        OutputSection {
            total: self.output.lists.0.iter().map(|list| list.total).sum(),
            items: self.output.shown(pages),
            outputs: self.outputs.iter().enumerate().map(shown).take(envelope.listed).collect(),
        }
    }

    /// The number of the first item of each input and output.
    fn offset(&self) -> u64 {
        self.query.projection.window.start
    }

    /// What the answer leaves out, and how to get it.
    fn truncated(
        &self,
        envelope: Envelope,
        error: &Page,
        parameters: &Page,
        input: &Pages,
        output: &Pages,
    ) -> Option<Truncated> {
        let offset = self.offset();
        let both = [(&self.input.lists, input), (&self.output.lists, output)];
        let next_offset = both.iter().filter_map(|(lists, pages)| lists.next_offset(pages, offset)).min();
        let clipped = error.clipped + parameters.clipped + input.clipped() + output.clipped();
        let mut reasons = Vec::new();
        reasons.extend(next_offset.map(|_| "There are more items: continue with offset: nextOffset.".to_owned()));
        reasons.extend(self.hidden(input, output));
        reasons.extend(self.beyond_the_end(offset));
        if clipped > 0 {
            reasons
                .push("Long values were clipped: a smaller limit or a larger maxTokens shows more of them.".to_owned());
        }
        reasons.extend(self.unlisted(envelope));
        // Only `bare` leaves out an existing error.
        let without_error = self.run.error.is_some() && error.text == "null";
        let without_parameters = self.node.parameters.is_some() && parameters.text == "{}" && parameters.shown == 0;
        if without_error || without_parameters {
            reasons.push("The error or the parameters do not fit: use a larger maxTokens.".to_owned());
        }
        let reason = reasons.join(" ");
        let clipped_values = (clipped > 0).then_some(clipped);
        (!reason.is_empty()).then_some(Truncated { reason, next_offset, clipped_values })
    }

    /// Advice about inputs and outputs that do not have room for even one item.
    fn hidden(&self, input: &Pages, output: &Pages) -> Option<String> {
        let advice = match (self.input.lists.hidden(input), self.output.lists.hidden(output)) {
            (0, 0) => return None,
            (0, outputs) => format!(
                "No item of {} fits: request one of them with outputIndex",
                counted(outputs, "output", "outputs")
            ),
            (inputs, 0) => format!(
                "No item of {} fits: use a larger maxTokens or a smaller limit",
                counted(inputs, "input", "inputs")
            ),
            (inputs, outputs) => {
                let (inputs, outputs) = (counted(inputs, "input", "inputs"), counted(outputs, "output", "outputs"));
                format!("No item of {inputs} and {outputs} fits: use a larger maxTokens")
            }
        };
        Some(advice + ".")
    }

    fn beyond_the_end(&self, offset: u64) -> Option<String> {
        let longest = self.input.longest().max(self.output.longest());
        let items = counted(longest, "item", "items");
        (offset > 0 && longest <= offset)
            .then(|| format!("offset {offset} is beyond the end: the longest input or output has {items}."))
    }

    fn unlisted(&self, envelope: Envelope) -> Option<String> {
        let lists = self.outputs.len().max(self.node.inputs.len());
        let unlisted = lists.saturating_sub(envelope.listed);
        (unlisted > 0).then(|| counted(unlisted, "input or output is not listed.", "inputs or outputs are not listed."))
    }
}

/// How much of the names and lists around the items to show.
#[derive(Clone, Copy)]
struct Envelope {
    /// The most characters of a node's name.
    name_chars: usize,
    /// The most inputs, and the most outputs, that are listed.
    listed: usize,
}

impl Envelope {
    const WHOLE: Self = Self { name_chars: CUT_NAME_CHARS, listed: 256 };

    /// Shorter names, then fewer inputs and outputs.
    fn ladder() -> Ladder<Self> {
        Ladder::new(Self::WHOLE).shorter(|envelope| &mut envelope.name_chars, |chars| chars / 2, 12).shorter(
            |envelope| &mut envelope.listed,
            |listed| listed / 2,
            1,
        )
    }

    fn name(self, name: &str) -> String {
        shorten_name(name, self.name_chars)
    }
}

/// How much the envelope may grow when items are added: its numbers, and the reason in `truncated`.
const MARGIN_TOKENS: usize = 64;
/// The same in bytes.
const MARGIN_BYTES: usize = 1024;

fn page(text: &str) -> Page {
    Page { text: text.to_owned(), ..Page::default() }
}
