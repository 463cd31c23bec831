//! What is missing before a path: `.json`, `.item`, the brackets of a call.

use super::*;

#[test]
fn what_is_missing_before_a_path_is_known() {
    for (code, expected) in [
        ("$('X').item.body.a", Some("X Item: json body.a")),
        ("$('X').first().body.a.trim()", Some("X First: json body.a")),
        ("$input.first().status", Some("First: json status")),
        ("$input.item?.status", Some("Item: json status")),
        ("$node['X'].status", Some("X Item: json status")),
        ("$items('X')[0].status", Some("X[0] At(0): json status")),
        ("$('X').all()[0].status", Some("X At(0): json status")),
        ("$('X').json.status", Some("X Item: item.json status")),
        ("$('X').body.a", Some("X Item: item.json body.a")),
        ("$input.json.status", Some("Item: item.json status")),
        ("$('X').first.json.a", Some("X First: first().json a")),
        ("$('X').last.json.a", Some("X Last: last().json a")),
        ("$('X').item().json.a", Some("X Item: item.json a")),
        ("$('X').all().json.a", Some("X First: all()[0].json a")),
        ("$input.length", Some("First: all().length ")),
        ("$('X').all.length", Some("X First: all().length ")),
        ("$('X').all().length", None),
        ("$('X').all().first().json.a", None),
        ("$('X').all().map(x => x.json.a)", None),
        ("$('X').item", None),
        ("$('X').item.keys()", None),
        ("$('X').item.binary.a", None),
        ("$('X').item.pairedItem.item", None),
        ("$('X').first().error.message", None),
        ("$('X').isExecuted", None),
        ("$('X').params.a", None),
        ("$('X').context.a", None),
        ("$('X').itemMatching(0)", None),
        ("$input.params.a", None),
        ("$input.context.noItemsLeft", None),
        ("$input.first().length", None),
        ("$node['X'].context.a", None),
        ("$node['X'].data.a", None),
        ("$node['X'].runIndex", None),
    ] {
        let scanned = scan(&format!("={{{{ {code} }}}}"), Syntax::Expression);
        let meant = scanned.references.iter().find_map(|one| Some(one.meant?.to_owned() + " " + &written(&one.path)));
        let origin = references(&format!("={{{{ {code} }}}}")).pop().unwrap_or_default();
        let origin = origin.split(": ").next().unwrap_or_default();
        assert_eq!(meant.map(|meant| format!("{origin}: {meant}")).as_deref(), expected, "{code}");
    }
}
