use serde_json::Value;

use super::{Kind, merged};

/// The output of the reference: `{pairs: [[text, fine, coarse], …], sets: [[[text, kind], …], …]}`.
const REFERENCE: &str = include_str!("../../../fixtures/kinds.json");

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn texts_are_of_the_kind_that_the_reference_says() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let pairs = reference["pairs"].as_array().unwrap();
    assert!(pairs.len() >= 300);
    for pair in pairs {
        let [text, fine, coarse] = strings(pair).try_into().unwrap();
        assert_eq!(Kind::of(text), Kind { fine: fine.to_owned(), coarse: coarse.to_owned() }, "{text:?}");
    }
}

#[test]
fn sets_of_texts_are_merged_as_the_reference_says() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let sets = reference["sets"].as_array().unwrap();
    assert!(sets.len() >= 30);
    for set in sets {
        let rows: Vec<_> = set.as_array().unwrap().iter().map(strings).collect();
        let kinds: Vec<_> = rows.iter().map(|row| Kind::of(row[0])).collect();
        let expected: Vec<_> = rows.iter().map(|row| row[1]).collect();
        assert_eq!(merged(&kinds), expected);
    }
}

#[track_caller]
fn assert_fine<const N: usize>(pairs: [(&str, &str); N]) {
    for (text, fine) in pairs {
        assert_eq!(Kind::of(text).fine, fine, "{text:?}");
    }
}

#[test]
fn statuses_are_kept() {
    assert_fine([
        ("Request failed with status code 404", "Request failed with status code 404"),
        ("Request failed with status code 500", "Request failed with status code 500"),
        ("HTTP/1.1 503: try again in 30 seconds", "HTTP/* 503: try again in * seconds"),
        ("(429) too many requests, request 4290", "(429) too many requests, request *"),
        ("404 Not found, as 403 said", "404 Not found, as * said"),
        ("rejected: 550 5.1.1 <olive12@example.com>: User unknown", "rejected: 550 * <*>: User unknown"),
        ("statuſ 404, STATUS: 503", "statuſ 404, STATUS: 503"),
        ("status code 40a, status 404a, mycode 404", "status code *a, status *a, mycode *"),
        ("It said 'status 404 again' and 'item 404 again'", "It said 'status 404 again' and '…'"),
    ]);
}

#[test]
fn addresses_are_values() {
    assert_fine([
        ("GET https://u:secret@api.example.com:8443/v1/orders/4711?x=1 failed", "GET https://api.example.com/* failed"),
        ("GET http://10.0.0.1/health failed", "GET http://*/* failed"),
        ("postgres://n8n:pw@db12.example.com/n8n is down", "postgres://db*.example.com/* is down"),
        ("connect ECONNREFUSED 10.0.3.17:443", "connect ECONNREFUSED *"),
        ("connect ECONNREFUSED ::1:5432", "connect ECONNREFUSED *"),
        ("connect to fe80:0:0:0:204:61ff:fe9d:f156 failed", "connect to * failed"),
        ("getaddrinfo ENOTFOUND shop-7.example.com", "getaddrinfo ENOTFOUND shop*.example.com"),
        ("cannot open /data/export/part-00012.csv", "cannot open *"),
        (r"cannot open C:\Users\n8n\data.csv", "cannot open *"),
        ("either/or, and/or, </div>", "either/or, and/or, </div>"),
    ]);
}

#[test]
fn dates_and_numbers_are_values() {
    assert_fine([
        ("at 2026-11-21T12:30:00.000Z", "at *"),
        ("at Sat, 21 Nov 2026 12:30:00 GMT", "at *"),
        ("at Sat Nov 21 2026 12:30:00 GMT+0100", "at *"),
        ("due 21.11.2026 at 9:30 pm", "due * at *"),
        ("at 12:30:00.5x", "at *.*x"),
        ("price is -1.5e3, not 1,000.50 EUR", "price is *, not * EUR"),
        ("größe１２３ is ٣ too large", "größe* is * too large"),
        ("rows 1, 2, 3 and 4 are wrong", "rows * are wrong"),
    ]);
}

#[test]
fn random_words_are_values() {
    assert_fine([
        ("parcel 9a8af2c3-1b2c-4d3e-8f90-a1b2c3d4e5f6 was refused after 14503 ms", "parcel * was refused after * ms"),
        ("request id req_0123456789abcdef", "request id req_*"),
        ("expected SKU-1137, got tmp_48213", "expected SKU-*, got tmp_*"),
        ("commit 3f2a9c1d not found", "commit * not found"),
        ("key AIzaSyD4x8Kq2mP0vLr7 is invalid", "key * is invalid"),
        ("token XkQzPmLrTnWvBd expired", "token * expired"),
        ("effaced facade in NodeOperationError", "effaced facade in NodeOperationError"),
        ("item12of30, v2, 3rd", "*, v*rd"),
    ]);
}

#[test]
fn quoted_text_is_a_value_unless_it_tells_kinds_apart() {
    assert_fine([
        ("relation \"tmp_48213\" does not exist", "relation \"…\" does not exist"),
        ("relation \"orders\" violates \"pk_orders\"", "relation \"orders\" violates \"pk_orders\""),
        ("fields \"first name\" and \"last name\" are missing", "fields \"…\" are missing"),
        ("Unexpected token '<', \"<html><hea\"... at 17", "Unexpected token '<', \"<html><hea\"... at *"),
        ("404 - {\"error\":\"no order 47481\"}", "404 - {\"error\":\"…\"}"),
        ("say \"a \\\"b\\\" c\" twice", "say \"…\" twice"),
        ("“two words” ‘two words’ `two words` 「two words」", "“…” ‘…’ `…` 「…」"),
        ("don't retry: it's the customer's order", "don't retry: it's the customer's order"),
    ]);
    assert_eq!(Kind::of("relation \"orders\" has no 'rate'").coarse, "relation \"…\" has no '…'");
}

#[test]
fn the_first_two_lines_count_without_the_place() {
    assert_fine([
        ("undefined (reading 'rate') [line 12, for item 3]", "undefined (reading 'rate')"),
        ("wrong [item 3] [line 5] ", "wrong [item *]"),
        ("wrong [line x]", "wrong [line x]"),
        ("\n\n  first line \r\n\n second\tline \nthird", "first line second line"),
        ("x \u{2028} y", "x y"),
        (" \t", ""),
    ]);
    assert_eq!(Kind::of(&"no end ".repeat(1000)).fine.chars().count(), 300);
}

#[test]
fn many_words_of_one_place_are_a_value() {
    let texts =
        |words: &[&str]| -> Vec<_> { words.iter().map(|word| Kind::of(&format!("shop {word} closed"))).collect() };
    assert_eq!(merged(&texts(&["a", "b", "c"])), ["shop a closed", "shop b closed", "shop c closed"]);
    assert_eq!(merged(&texts(&["a", "b", "c", "d"])), ["shop * closed"; 4]);
    let names = ["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"e\"", "\"f\""];
    assert_eq!(merged(&texts(&names)), ["shop \"…\" closed"; 6]);
    assert_eq!(merged(&[]), Vec::<String>::new());
}
