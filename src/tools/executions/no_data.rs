//! Why an execution has no run data, or no values.

use crate::execution::Header;
use crate::toolkit::Locale;
use crate::units::megabytes;

/// Why an execution may have no items to show.
pub(super) fn no_values(header: &Header, nodes: &[String], is_redacted: bool) -> Vec<String> {
    let no_data = nodes.is_empty().then(|| no_data(header, Locale::En));
    let redacted = is_redacted.then(|| "n8n redacted the data: the values of items are not included.".to_owned());
    no_data.into_iter().chain(redacted).collect()
}

/// The reason as a sentence. Agents receive it in English.
pub(super) fn no_data(header: &Header, locale: Locale) -> String {
    let unknown =
        || locale.choose("この実行には実行データがありません。", "This execution has no run data.").to_owned();
    known_reason(header, locale).unwrap_or_else(unknown)
}

/// The reason, if n8n's metadata reveals it.
fn known_reason(header: &Header, locale: Locale) -> Option<String> {
    if header.data_too_large {
        return Some(too_large(header.json_size_bytes, locale));
    }
    let reason = match header.status.as_deref()? {
        "running" | "new" if header.abandoned => locale.choose(
            "n8n は実行データを保存していませんでした。EXECUTIONS_DATA_SAVE_ON_PROGRESS が設定されていません。",
            "n8n had saved no run data: EXECUTIONS_DATA_SAVE_ON_PROGRESS is not set.",
        ),
        status @ ("running" | "new") => {
            let state = if status == "new" { "開始待ち" } else { "実行中" };
            return Some(locale.choose(
                format!("この実行は{state}です。EXECUTIONS_DATA_SAVE_ON_PROGRESS を設定しない限り、n8n は終了時にだけ実行データを保存します。"),
                format!("This execution is {status}: n8n saves run data only when it ends, unless EXECUTIONS_DATA_SAVE_ON_PROGRESS is set."),
            ));
        }
        "canceled" => locale.choose(
            "この実行はキャンセルされました。EXECUTIONS_DATA_SAVE_ON_PROGRESS を設定しない限り、n8n は実行データを保存しません。",
            "This execution was canceled: n8n saves no run data for it unless EXECUTIONS_DATA_SAVE_ON_PROGRESS is set.",
        ),
        "crashed" => locale.choose(
            "この実行の途中で n8n がクラッシュし、実行データは復元されませんでした。",
            "n8n crashed during this execution and recovered no run data.",
        ),
        _ => return None,
    };
    Some(reason.to_owned())
}

fn too_large(stored: Option<u64>, locale: Locale) -> String {
    let stored = stored.filter(|bytes| *bytes > 0);
    let (size, memory) = match stored.map(|bytes| (megabytes(bytes), megabytes(bytes.saturating_mul(10)))) {
        Some((size, memory)) => (size, locale.choose(format!("約 {memory}"), format!("about {memory}"))),
        None => {
            let (size, memory) = locale.choose(("不明", "その約 10 倍"), ("an unknown size", "about ten times that"));
            (size.to_owned(), memory.to_owned())
        }
    };
    locale.choose(
        format!(
            "データが大きすぎるため、n8n は実行データを送りませんでした（保存サイズ: {size}）。ここのボタンで読み込めますが、n8n のメモリを{memory}使います。"
        ),
        format!(
            "The data is too large to display, so n8n sent no run data (stored size: {size}). ignoreDataSizeLimit: true requests it anyway, at the cost of {memory} of n8n's memory."
        ),
    )
}
