//! A node that answers from the recording: a Code node of the same name, without any other effect.
//!
//! Its code is always [`HEAD`], one string literal that holds the recording, and [`TAIL`]: nothing of the workflow becomes code.

/// The code before the recording.
const HEAD: &str = "const { name, runs } = JSON.parse('";

/// The code after the recording. `in` are the hashes of the items that a run received, `null` for a trigger; `out` are the items that
/// it returned, of all its outputs; `error` is the message with which it failed.
///
/// A run that is a name is in the file of this name that came with the call.
///
/// A run answers as it did if its input is the one that was recorded. With another input, each item is answered by what the same
/// item led to in any run, where that is known: the recorded items that came from exactly this one.
const TAIL: &str = r"');
const hash = ({ json }) => {
  const text = JSON.stringify(json);
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
};
const fail = (message) => { throw { message, stack: '' }; };
const load = async (at) => {
  if (typeof runs[at] !== 'string') return runs[at];
  const file = $('n8n-lens replay start').first().binary[runs[at]];
  return JSON.parse((await this.helpers.getBinaryDataBuffer(0, file)).toString());
};
const given = $input.all();
const hashes = given.map(hash);
const run = await load($runIndex);
if (run && (run.in === null || (run.in.length === hashes.length && run.in.every((one, at) => one === hashes[at])))) {
  return run.error ? fail(run.error) : run.out;
}
const origin = ({ pairedItem }) => {
  const [first, ...more] = [pairedItem].flat();
  return more.length ? undefined : first?.item ?? first;
};
const known = new Map();
for (const at of runs.keys()) {
  const { in: received, out, error, outputs } = await load(at);
  if (!received || error || outputs > 1 || !out.every((item) => Number.isInteger(origin(item)))) continue;
  received.forEach((one, at) => known.set(one, out.filter((item) => origin(item) === at)));
}
return given.flatMap((_, at) => {
  if (!known.has(hashes[at])) fail(`n8n-lens: no recorded answer of ${name} to item ${at} of run ${$runIndex}`);
  return known.get(hashes[at]).map((item) => ({ ...item, pairedItem: { item: at } }));
});";

/// With these words a node says that it was asked something that was not recorded.
pub const NOT_RECORDED: &str = "n8n-lens: no recorded answer of ";

/// The code of a node with this recording, which is JSON.
pub(super) fn code(recording: &str) -> String {
    format!("{HEAD}{}{TAIL}", literal(recording))
}

/// Whether this is the code of such a node, and nothing else.
pub(super) fn is_code(code: &str) -> bool {
    let Some(literal) = code.strip_prefix(HEAD).and_then(|code| code.strip_suffix(TAIL)) else { return false };
    let mut escaped = false;
    for c in literal.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => return false,
            _ => {}
        }
    }
    !escaped
}

/// The inside of a JavaScript string in single quotes.
fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '\\' => literal.push_str("\\\\"),
            '\'' => literal.push_str("\\'"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\u{2028}' => literal.push_str("\\u2028"),
            '\u{2029}' => literal.push_str("\\u2029"),
            c => literal.push(c),
        }
    }
    literal
}

/// The hash of an item's `json`, as the code of a node takes it: of its text as `JSON.stringify` writes it.
pub fn hash(json: &str) -> u64 {
    let (mut a, mut b) = (0xdead_beef_u32, 0x41c6_ce57_u32);
    for unit in json.encode_utf16().map(u32::from) {
        a = (a ^ unit).wrapping_mul(2_654_435_761);
        b = (b ^ unit).wrapping_mul(1_597_334_677);
    }
    a = (a ^ (a >> 16)).wrapping_mul(2_246_822_507) ^ (b ^ (b >> 13)).wrapping_mul(3_266_489_909);
    b = (b ^ (b >> 16)).wrapping_mul(2_246_822_507) ^ (a ^ (a >> 13)).wrapping_mul(3_266_489_909);
    (u64::from(b & 0x1f_ffff) << 32) + u64::from(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_recording_is_in_the_code() {
        let recording = r#"{"name":"O'Brien \\ \n","runs":[]}"#.to_owned() + "\u{2028}\r\n";
        let code = code(&recording);
        assert!(is_code(&code), "{code}");
        for other in ["return 1", &code.replace("O\\'", "O'"), &format!("{code} "), &format!("{HEAD}a\\{TAIL}")] {
            assert!(!is_code(other), "{other}");
        }
    }
}
