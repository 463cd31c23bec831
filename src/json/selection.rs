//! The half of the filter that knows the [`Keep`] table: it receives the parts of a text, value by value, and collects
//! what is kept of them. It does not know how the text is written; [`Pruner`](super::Pruner) reads JSON, and
//! [`Expansion`](super::flatted::Expansion) the form in which n8n stores it.

use std::borrow::Cow;
use std::ops::Range;

use super::batch::{Batch, Output};
use super::cut::{hold_name, is_name};
use super::fault::FaultKind;
use super::keep::Keep;
use super::long_string::LongString;
use super::name::Name;
use super::string::SurrogateRepair;
use super::walk::scalar_len;

/// Containers nested deeper than this, in what is kept, are emptied. Nothing that deep is shown: an
/// [`Excerpt`](super::Excerpt) has twelve levels, and no table has ten.
const FRAMES: usize = 64;

/// What is kept of a text so far.
pub(super) struct Selection {
    window: Range<u64>,
    /// The member that is kept of the outermost [`Keep::EachMember`]; `None` for all.
    focus: Option<String>,
    frames: Vec<Frame>,
    /// How many arrays with a window have begun.
    windows: u64,
    /// The rule for the next value of an object, or for the top-level value.
    member: Keep,
    /// Whether nothing of the member is written, not even its name.
    omits: bool,
    name: Name,
    /// Whether the string that is being read is a captured value.
    captured: bool,
    /// Whether long strings in captured values are kept whole.
    is_exact: bool,
    /// The string that is being read, if it is in a captured value and its rest is only counted.
    long: Option<LongString>,
    repair: SurrogateRepair,
    out: Output,
}

/// An open container that is kept.
struct Frame {
    object: bool,
    keep: Keep,
    /// Elements that are complete.
    elements: u64,
    /// Elements outside the window that the output does not count yet.
    omitted: u64,
    captured: bool,
    /// Whether a member, or an element in the window, was written, so that the next one needs a comma.
    written: bool,
}

impl Frame {
    /// Whether the current element is only counted.
    #[inline]
    fn is_silent(&self, window: &Range<u64>) -> bool {
        match self.keep {
            Keep::Count => true,
            Keep::Window => !window.contains(&self.elements),
            _ => false,
        }
    }

    /// How many elements from the current one on are only counted; the array may have fewer.
    fn silent(&self, window: &Range<u64>) -> u64 {
        match self.keep {
            Keep::Window if self.elements < window.start && !window.is_empty() => window.start - self.elements,
            _ if self.is_silent(window) => u64::MAX,
            _ => 0,
        }
    }
}

impl Selection {
    /// Keeps what `keep` names of the top-level value, and captures the elements `window` of every [`Keep::Window`].
    pub(super) fn new(keep: Keep, window: Range<u64>) -> Self {
        Self {
            window,
            focus: None,
            frames: Vec::new(),
            windows: 0,
            member: keep,
            omits: false,
            name: Name::default(),
            captured: false,
            is_exact: false,
            long: None,
            repair: SurrogateRepair::default(),
            out: Output::default(),
        }
    }

    /// Keeps only the member with this name of the outermost [`Keep::EachMember`], and the names of the others.
    pub(super) fn focus(&mut self, name: String) {
        self.focus = Some(name);
    }

    /// Keeps long strings in captured values whole.
    pub(super) fn be_exact(&mut self) {
        self.is_exact = true;
    }

    /// Takes what was kept so far.
    pub(super) fn take(&mut self) -> Batch {
        Batch { has_replacement: self.repair.take_has_replaced(), ..self.out.take() }
    }

    /// Bytes that were kept and not taken yet.
    pub(super) fn pending(&self) -> usize {
        self.out.pending()
    }

    /// Whether the innermost container that is kept is an object; `None` at the top level.
    #[inline]
    pub(super) fn in_object(&self) -> Option<bool> {
        self.frames.last().map(|frame| frame.object)
    }

    /// Whether nothing is kept of the next value, whatever it is.
    pub(super) fn skips(&self) -> bool {
        let silent = self.frames.last().is_some_and(|frame| frame.is_silent(&self.window));
        silent || matches!(self.rule(), Keep::Skip)
    }

    /// Whether the next value is captured.
    #[inline]
    pub(super) fn captures(&self) -> bool {
        matches!(self.rule(), Keep::Capture)
    }

    /// Captures the next value; this is its text.
    pub(super) fn capture(&mut self, json: &[u8]) {
        self.begin_value();
        self.out.put_captured(json);
        self.end_value();
    }

    /// The next value, which is captured if this is its text, or else only counted.
    #[inline]
    pub(super) fn capture_or_count(&mut self, json: Option<&[u8]>) {
        match json {
            Some(json) => self.capture(json),
            None => self.count(1),
        }
    }

    /// The next element: the number of its array among those with a window, and its index.
    #[inline]
    pub(super) fn element(&self) -> (u64, u64) {
        (self.windows, self.frames.last().map_or(0, |frame| frame.elements))
    }

    /// How many elements of the open array, from the next one on, are only counted; there may be fewer.
    pub(super) fn silent(&self) -> u64 {
        self.frames.last().map_or(0, |frame| frame.silent(&self.window))
    }

    /// Counts elements; nothing else of them is kept.
    #[inline]
    pub(super) fn count(&mut self, elements: u64) {
        if let Some(frame) = self.frames.last_mut() {
            frame.omitted += elements;
            frame.elements += elements;
        }
    }

    /// Returns the rule for the value that begins here. In a window, writes the number of elements that
    /// were skipped before it.
    #[inline]
    fn begin_value(&mut self) -> Keep {
        let rule = self.rule();
        if let Some(frame) = self.frames.last_mut()
            && matches!(frame.keep, Keep::Window)
        {
            if frame.is_silent(&self.window) {
                return Keep::Skip;
            }
            if std::mem::replace(&mut frame.written, true) {
                self.out.put(b",");
            }
            let omitted = std::mem::take(&mut frame.omitted);
            if omitted > 0 {
                self.out.put(format!("-{omitted},").as_bytes());
            }
        }
        rule
    }

    /// Ends the value; in an array, the next element follows.
    #[inline]
    pub(super) fn end_value(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.omitted += u64::from(frame.is_silent(&self.window));
            frame.elements += 1;
        }
    }

    /// Skips a container or a string.
    pub(super) fn skip(&mut self) {
        self.begin_value();
        self.put_shown(b"0");
        self.end_value();
    }

    /// Writes what stands for a value, unless the value is only counted or omitted.
    fn put_shown(&mut self, bytes: &[u8]) {
        let is_silent = |frame: &Frame| frame.is_silent(&self.window) || frame.object && self.omits;
        if !self.frames.last().is_some_and(is_silent) {
            self.out.put(bytes);
        }
    }

    #[inline]
    fn rule(&self) -> Keep {
        match self.frames.last() {
            Some(frame) if !frame.object => match frame.keep {
                Keep::Window if self.window.contains(&frame.elements) => Keep::Capture,
                Keep::EachElement(rule) => *rule,
                Keep::Whole => Keep::Whole,
                _ => Keep::Skip,
            },
            _ => self.member,
        }
    }

    /// Begins a container; returns whether its parts are wanted. If not, the caller skips it and calls
    /// [`end_value`](Self::end_value).
    pub(super) fn open(&mut self, object: bool) -> bool {
        let rule = self.begin_value();
        let brackets: &[u8; 2] = if object { b"{}" } else { b"[]" };
        if !rule.enters(object) || self.frames.len() == FRAMES {
            self.put_shown(if rule.enters(object) { brackets } else { b"0" });
            return false;
        }
        let captured = self.out.begin_capture(rule);
        let keep = if captured { Keep::Whole } else { rule };
        if !matches!(keep, Keep::Count) {
            self.out.put(&brackets[..1]);
        }
        self.windows += u64::from(matches!(keep, Keep::Window));
        self.frames.push(Frame { object, keep, elements: 0, omitted: 0, captured, written: false });
        true
    }

    /// Ends the innermost container that is kept.
    pub(super) fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        match frame.keep {
            Keep::Count => self.out.put(frame.elements.to_string().as_bytes()),
            Keep::Window if frame.omitted > 0 => {
                let comma = if frame.written { "," } else { "" };
                self.out.put(format!("{comma}-{}]", frame.omitted).as_bytes());
            }
            _ => self.out.put(if frame.object { b"}" } else { b"]" }),
        }
        self.out.end_capture(frame.captured);
        self.end_value();
    }

    /// Separates an element from the one before it. A member gets its comma with its [name](Self::put_name).
    #[inline]
    pub(super) fn comma(&mut self) {
        if let Some(Frame { keep, object: false, .. }) = self.frames.last()
            && !matches!(keep, Keep::Count | Keep::Window)
        {
            self.out.put(b",");
        }
    }

    /// Begins the name of a member.
    pub(super) fn begin_name(&mut self) {
        self.name.clear();
    }

    /// The next raw piece of the name, from between the quotes.
    ///
    /// # Errors
    /// At an escape that JSON does not have.
    pub(super) fn name_piece(&mut self, bytes: &[u8]) -> Result<(), FaultKind> {
        self.repair.push(bytes, &mut self.name)
    }

    /// Ends the name, and determines the rule for its value.
    ///
    /// # Errors
    /// When the name ends inside an escape.
    pub(super) fn end_name(&mut self) -> Result<(), FaultKind> {
        self.repair.finish(&mut self.name)?;
        let keep = self.frames.last().map_or(Keep::Skip, |frame| frame.keep);
        self.member = match keep {
            Keep::Members(_) | Keep::Except(_) => keep.member(&self.name.text()),
            Keep::EachMember(_) if !self.is_in_focus() => Keep::Skip,
            _ => keep.member(""),
        };
        Ok(())
    }

    /// Whether the member that begins is kept, judged by its name.
    fn is_in_focus(&self) -> bool {
        let Some(focus) = &self.focus else { return true };
        let name = hold_name(&self.name.text());
        !self.is_outer_member() || name == *focus || is_name(focus, &name)
    }

    /// Whether the member that begins is one of the outermost [`Keep::EachMember`].
    pub(super) fn is_outer_member(&self) -> bool {
        let mut frames = self.frames.iter().map(|frame| matches!(frame.keep, Keep::EachMember(_)));
        frames.next_back() == Some(true) && !frames.any(|each_member| each_member)
    }

    /// The name, decoded.
    pub(super) fn name(&self) -> Cow<'_, str> {
        self.name.text()
    }

    /// Renames the member.
    ///
    /// # Errors
    /// When the name is not valid JSON.
    pub(super) fn rename(&mut self, name: &str) -> Result<(), FaultKind> {
        self.begin_name();
        self.name_piece(name.as_bytes())?;
        self.end_name()
    }

    /// Writes the name, unless the member is omitted.
    pub(super) fn put_name(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        self.omits = !frame.keep.any_name() && matches!(self.member, Keep::Skip);
        if self.omits {
            return;
        }
        self.out.put(if std::mem::replace(&mut frame.written, true) { b",\"" } else { b"\"" });
        match self.name.written() {
            Some(written) => self.out.put(written),
            // A cut name is decoded text, so it is escaped again.
            None => self.out.put(escaped(&self.name.text()).as_bytes()),
        }
        self.out.put(b"\":");
    }

    /// Begins a string; returns whether its text is wanted. If not, the caller skips it and calls
    /// [`end_value`](Self::end_value).
    pub(super) fn begin_string(&mut self) -> bool {
        let rule = self.begin_value();
        let kept = matches!(rule, Keep::Whole | Keep::Capture | Keep::Members(_));
        if kept {
            self.captured = self.out.begin_capture(rule);
            let is_inside = self.captured || self.frames.iter().any(|frame| frame.captured);
            self.long = (is_inside && !self.is_exact).then(LongString::default);
            self.out.put(b"\"");
        } else {
            self.put_shown(b"0");
        }
        kept
    }

    /// The next raw piece of the string, from between the quotes.
    ///
    /// # Errors
    /// At an escape that JSON does not have.
    pub(super) fn string_piece(&mut self, bytes: &[u8]) -> Result<(), FaultKind> {
        match &mut self.long {
            Some(long) => self.repair.push(bytes, &mut long.sink(&mut self.out)),
            None => self.repair.push(bytes, &mut self.out),
        }
    }

    /// Ends a string whose text is wanted.
    ///
    /// # Errors
    /// When the string ends inside an escape.
    pub(super) fn end_string(&mut self) -> Result<(), FaultKind> {
        match &mut self.long {
            Some(long) => self.repair.finish(&mut long.sink(&mut self.out))?,
            None => self.repair.finish(&mut self.out)?,
        }
        if let Some(mark) = self.long.take().and_then(LongString::mark) {
            self.out.put(mark.as_bytes());
        }
        self.out.put(b"\"");
        let captured = std::mem::take(&mut self.captured);
        self.out.end_capture(captured);
        self.end_value();
        Ok(())
    }

    /// A number or a literal.
    ///
    /// # Errors
    /// When it is neither.
    pub(super) fn scalar(&mut self, scalar: &[u8]) -> Result<(), FaultKind> {
        if scalar_len(scalar) != Some(scalar.len()) {
            return Err(FaultKind::Scalar);
        }
        let rule = self.begin_value();
        let captured = self.out.begin_capture(rule);
        // A number in place of a counted array would be taken for its count.
        let counts = matches!(rule, Keep::Count) && scalar != b"null";
        self.put_shown(if counts { b"0" } else { scalar });
        self.out.end_capture(captured);
        self.end_value();
        Ok(())
    }
}

/// The inside of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
