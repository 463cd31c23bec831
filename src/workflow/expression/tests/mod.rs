use super::*;

mod missing;

/// References as `origin: path`, of an expression or, without `=`, of code.
fn references(text: &str) -> Vec<String> {
    let syntax = if text.starts_with('=') { Syntax::Expression } else { Syntax::Code };
    let shown = |reference: &Reference| {
        let origin = match &reference.origin {
            Origin::Input(which) => format!("{which:?}"),
            Origin::Node { name, output: None, which } => format!("{name} {which:?}"),
            Origin::Node { name, output: Some(output), which } => format!("{name}[{output}] {which:?}"),
        };
        format!("{origin}: {}{}", written(&reference.path), if reference.takes_length { " (length)" } else { "" })
    };
    scan(text, syntax).references.iter().map(shown).collect()
}

fn names(text: &str, syntax: Syntax) -> Vec<String> {
    scan(text, syntax).names.into_iter().map(|name| name.name).collect()
}

#[track_caller]
fn refers(code: &str, expected: &[&str]) {
    assert_eq!(references(&format!("={{{{ {code} }}}}")), expected, "{code}");
}

#[test]
fn a_path_is_read_in_every_notation() {
    refers("$json", &["Item: "]);
    refers("$json.a.b", &["Item: a.b"]);
    refers("$json[\"a b\"].c", &["Item: [\"a b\"].c"]);
    refers("$json['a'][`b`][0].c", &["Item: a.b[0].c"]);
    refers("$json?.a?.['b']?.c", &["Item: a.b.c"]);
    refers("$json.a?.[0]", &["Item: a[0]"]);
    refers("$json . a /* x */ . b", &["Item: a.b"]);
    refers("$data.a", &["Item: a"]);
    refers("`${$json.a} ${`${$json.b}`}`", &["Item: a", "Item: b"]);
    refers("{a: $json.b, $json: 1}", &["Item: b"]);
    refers("x.$json.a", &[]);
    refers("'$json.a' /* $json.b */", &[]);
    // The backslash belongs to the brackets, which do not end the code.
    refers("{a: {b: $json.a\\}}", &["Item: a"]);
    refers("{a: {b: $node.A\\}}", &[]);
    assert_eq!(names("={{ {a: {b: $node.A\\}} }}", Syntax::Expression), ["A"]);
}

#[test]
fn a_path_ends_at_a_call_and_at_a_computed_index() {
    refers("$json.a.trim()", &["Item: a"]);
    refers("$json.a.trim?.().b", &["Item: a"]);
    refers("$json.toJsonString()", &["Item: "]);
    refers("$json.a[i].b", &["Item: a"]);
    refers("$json.a[$json.i].b", &["Item: a", "Item: i"]);
    refers("$json.a['b' + 1]", &["Item: a"]);
    refers("$json.a.map(x => x.b).length", &["Item: a"]);
}

#[test]
fn a_length_is_no_part_of_the_path() {
    refers("$json.a.length", &["Item: a (length)"]);
    refers("$json.a.length > 0", &["Item: a (length)"]);
    refers("$json.a.length.toFixed()", &["Item: a (length)"]);
    refers("$json.length.a", &["Item: length.a"]);
    refers("$json['length']", &["Item: length"]);
    refers("$json.a['length']", &["Item: a (length)"]);
    refers("$json.length()", &["Item: "]);
    let text = "={{ $json.a.length }}";
    assert_eq!(&text[scan(text, Syntax::Expression).references[0].range.clone()], "$json.a");
}

#[test]
fn the_input_and_other_nodes_have_items() {
    refers("$input.item.json.a", &["Item: a"]);
    refers("$input.first().json.a", &["First: a"]);
    refers("$input.all()[2].json.a", &["At(2): a"]);
    refers("$input.all()[i].json.a", &["Any: a"]);
    refers("$input.all().map(x => x.json.a)", &[]);
    refers("$('X').item.json.a", &["X Item: a"]);
    refers("$('X').last().json.a", &["X Last: a"]);
    refers("$('X').first(0, 1).json.a", &["X[0] Any: a"]);
    refers("$('X').first(1).json.a", &["X[1] First: a"]);
    refers("$('X').last(1 + i).json.a", &["X Any: a"]);
    refers("$('X').all(1)[2].json.a", &["X[1] At(2): a"]);
    refers("$('X').all(1, 0)[2].json.a", &["X[1] Any: a"]);
    refers("$('X').itemMatching(0).json.a", &["X Any: a"]);
    refers("$('X').pairedItem().json.a", &["X Item: a"]);
    refers("$('X').item.binary.a", &[]);
    refers("$('X').params.a", &[]);
    refers("$(\"X\")?.item?.json?.a", &["X Item: a"]);
    refers("$node[\"X\"].json.a", &["X Item: a"]);
    refers("$node.X.json['a']", &["X Item: a"]);
    refers("$item(0).$node['X'].json.a", &["X Item: a"]);
    refers("$json.$node['X'].json.a", &["Item: $node.X.json.a"]);
    refers("$items('X')[0].json.a", &["X[0] At(0): a"]);
    refers("$items('X', 1)[0].json.a", &["X[1] At(0): a"]);
    refers("$items('X', 1, 0)[0].json.a", &["X[1] Any: a"]);
    refers("$items()[0].json.a", &["At(0): a"]);
}

#[test]
fn names_are_literals_and_others_are_counted() {
    let expression = |code: &str| scan(&format!("={{{{ {code} }}}}"), Syntax::Expression);
    assert_eq!(expression(r"$('it\'s').params").names[0].name, "it's");
    assert_eq!(expression("$(`X`).item").names[0].name, "X");
    for (code, access) in [
        ("$('X').isExecuted", Access::IsExecuted),
        ("$('X').item.json", Access::PairedItem),
        ("$('X').all()", Access::Items),
        ("$items('X').length", Access::Items),
        ("$items('X')", Access::Items),
        ("$node.X.json", Access::Items),
        ("$('X').params.a", Access::Other),
        ("$('X')", Access::Other),
    ] {
        assert_eq!(expression(code).names[0].access, access, "{code}");
    }
    let text = "={{ $items('X', 1)[0] }} {{ $node.X.json }}";
    let sources = scan(text, Syntax::Expression).names.into_iter().map(|name| &text[name.source]);
    assert_eq!(sources.collect::<Vec<_>>(), ["$items('X', 1)", "$node.X"]);
    for dynamic in ["$($json.x).item", "$('a' + 1).item", "$(`${x}`)", "$node[x].json", "$items(x)[0]"] {
        let scanned = expression(dynamic);
        assert_eq!((scanned.names.len(), scanned.dynamic_names), (0, 1), "{dynamic}");
    }
    assert_eq!(expression("$()").dynamic_names, 0);
}

#[test]
fn a_dollar_of_cheerio_names_no_node() {
    for code in [
        "const $ = load(html); $('.price')",
        "$ = x; $('.price')",
        "function f($, a) { $('.price') }",
        "const page = require('cheerio').load(html); $('.price')",
        "cheerio.load(html)('.a'); $('.price')",
    ] {
        assert!(names(code, Syntax::Code).is_empty(), "{code}");
    }
    assert_eq!(names("if ($('X').first().json.a) { f($) }", Syntax::Code), ["X"]);
}

#[test]
fn the_first_unescaped_braces_close() {
    let scanned = scan("={{ $json.a.replace('{{x}}', $json.b) }}", Syntax::Expression);
    let fault = scanned.fault.unwrap();
    assert_eq!((fault.kind, fault.at, fault.is_cut), (FaultKind::UnclosedString, 20, true));
    let whole = |text| {
        let scanned = scan(text, Syntax::Expression);
        (scanned.codes, scanned.references.len(), scanned.fault)
    };
    assert_eq!(whole(r"={{ {a: {b: $json.a\}} }} {{ $json.b }}"), (2, 2, None));
    assert_eq!(whole(r"={{ '\}}' + $json.a }}"), (1, 1, None));
    assert_eq!(whole(r"=\{{ $json.a }} {{ $json.b }}"), (1, 1, None));
    assert_eq!(whole(r"=\\{{ $json.a }}"), (1, 1, None));
    assert_eq!(whole("={{ $json.a + $json.b"), (1, 2, None));
    assert_eq!((whole("=hello {{"), whole("=a {{ ").2.unwrap().kind), ((0, 0, None), FaultKind::Empty));
    assert_eq!(whole("={{ $json.a }} and {{ $json.b }} }}"), (2, 2, None));
    assert_eq!(whole(r"={{ $json.a }} {{ $json.b \}}"), (1, 1, None), "tournament loses it");
    assert_eq!(whole("no braces"), (0, 0, None));
}

#[test]
fn a_template_needs_both_braces_and_a_script_none() {
    let scanned = scan("<b>{{ $json.a }}</b> {{ $json.b", Syntax::Template);
    assert_eq!((scanned.codes, scanned.references.len(), scanned.fault), (1, 1, None));
    assert_eq!(references("return $json.a // {{ $json.b }}"), ["Item: a"]);
}

#[test]
fn a_slash_is_a_division_or_a_regular_expression() {
    refers("$json.a / 2 + '/' + $json.b", &["Item: a", "Item: b"]);
    refers("$json.a.replace(/[/\"']/g, $json.b)", &["Item: a", "Item: b"]);
    refers("f($json.a) / 2 / $json.b", &["Item: a", "Item: b"]);
    refers("[1][0] / 2 / $json.b", &["Item: b"]);
    assert_eq!(references("if (a) /'/.test(x); $json.b"), ["Item: b"]);
    assert_eq!(references("return /'/.test(x) && $json.b"), ["Item: b"]);
    assert_eq!(references("{ a() }\n/'/.test(x); $json.b"), ["Item: b"]);
}

#[test]
fn guards_count_for_one_expression() {
    let guarded = |code: &str| scan(&format!("={{{{ {code} }}}}"), Syntax::Expression).references[0].is_guarded;
    for code in [
        "$json?.a",
        "$json.a ?? 1",
        "$json.a || 1",
        "x && $json.a",
        "$json.a ? 1 : 2",
        "!$json.a",
        "typeof $json.a",
        "$json.a == null",
        "undefined !== $json.a",
        "$json.a === ''",
        "$json.a.isEmpty()",
        "$json.a.ifEmpty(1)",
        "$json.hasField('a')",
        "$if($json.a, 1, 2)",
        "$ifEmpty($json.a, 1)",
        "Array.isArray($json.a)",
        "$json.hasOwnProperty('a')",
        "'a' in $json",
        "Boolean($json.a)",
        "[$json.a, $json.b].filter(Boolean).join()",
        "[$json.a].find(Boolean)",
        "[$json.a].filter(x => x)",
        "[$json.a].filter((x) => x)",
        "[$json.a].compact()",
        "Number.isFinite($json.a)",
    ] {
        assert!(guarded(code), "{code}");
    }
    for code in [
        "$json.a",
        "$json.a === 'x'",
        "$json.a != 1",
        "$json.a > 2",
        "$json.a + '?.'",
        "$json.a & 1",
        "`${$json.a}`",
        "String($json.a)",
        "[$json.a].map(x => x)",
        "[$json.a].filter(x => y)",
        "[$json.a].filter(x => x.b)",
    ] {
        assert!(!guarded(code), "{code}");
    }
    let scanned = scan("={{ $json.a }} {{ $json.b || '' }}", Syntax::Expression);
    assert_eq!(scanned.references.iter().map(|one| one.is_guarded).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_guard_counts_for_the_same_field_in_the_whole_text() {
    for (text, expected) in [
        ("={{ $json.a ? 'A: ' : '' }}{{ $json.a }}", [true, true]),
        ("={{ $json.a.b }} {{ $json.a ?? '' }}", [true, true]),
        ("={{ $json.a.b ?? '' }} {{ $json.a }}", [true, false]),
        ("={{ $json ? 1 : 2 }} {{ $json.a }}", [true, false]),
        ("={{ $json.a ?? 1 }} {{ $('X').item.json.a }}", [true, false]),
    ] {
        let scanned = scan(text, Syntax::Expression);
        assert_eq!(scanned.references.iter().map(|one| one.is_guarded).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn what_may_be_left_out_is_guarded() {
    for (code, expected) in [
        ("({...$json.a, b: $json.b})", [true, false]),
        ("({b: 1, ...$json.a}) + $json.b", [true, false]),
        ("{...$json.a[0].b, c: $json.b}", [true, false]),
        ("JSON.stringify({a: $json.a, b: $json.b})", [true, true]),
        ("JSON.stringify({a: [{b: $json.a}], c: f($json.b)})", [true, false]),
        ("JSON.stringify({a: $json.a + 1, b: $json.b.trim()})", [false, false]),
        ("JSON.stringify([$json.a, `${$json.b}`])", [false, false]),
        ("Object.assign({}, $json.a, {b: $json.b})", [true, false]),
        ("Object.assign($json.a, {}) + f({}, $json.b)", [false, false]),
        ("({...$json.a.map(x), b: [...$json.b]})", [false, false]),
        ("f(...$json.a, {b: $json.b})", [false, false]),
    ] {
        let scanned = scan(&format!("={{{{ {code} }}}}"), Syntax::Expression);
        let guarded: Vec<_> = scanned.references.iter().map(|one| one.is_guarded).collect();
        assert_eq!(guarded, expected, "{code}");
    }
}

#[test]
fn an_if_that_asks_for_a_value_is_a_guard() {
    let scanned = |code: &str| scan(code, Syntax::Code);
    for (code, expected) in [
        ("if ($json.a) { f() }", true),
        ("if ($json.a['b'].c) f()", true),
        ("if ($json.a.length) f()", true),
        ("if ($json.a[i]) f()", true),
        ("if ($input.first().json.next) f()", true),
        ("if ($('X').first().json.error) f()", true),
        ("if ($items('X')[0].json.a) f()", true),
        ("while ($input.item.json.next) f()", true),
        ("if (x) f(); const v = $input.first().json.next; if (v) f()", true),
        ("if (x) f()\nlet v = $json.a[i]\nif (v) f()", true),
        ("if (w) f(); const v = $json.a; g(v)", false),
        ("if (v) f(); const v = $json.a + 1", false),
        ("if (v.x) f(); const v = $json.a", false),
        ("if ($json.a + $json.b) f()", false),
        ("if ($('X').first().json.a.trim()) f()", false),
        ("if ($json.a === 'x') f()", false),
        ("if ($json.a.includes('x')) f()", false),
        ("if (isDone) f($json.a)", false),
        ("f($json.a)", false),
    ] {
        let scanned = scanned(code);
        assert_eq!(scanned.references[0].is_guarded, expected, "{code}");
        assert_eq!(scanned.has_branches, code.contains("if "), "{code}");
    }
    assert!(scanned("switch (x) { case 1: f() }").has_branches);
    assert!(!scanned("const x = {if: 1}; x.if; for (const y of z) f(y)").has_branches);
}

#[test]
fn what_is_assigned_is_not_read() {
    let written = |code: &str| scan(code, Syntax::Code).references.iter().map(|one| one.is_written).collect::<Vec<_>>();
    assert_eq!(written("$json.a = $json.b"), [true, false]);
    assert_eq!(written("$input.item.json.a.b = 1; delete $json.c"), [true, true]);
    assert_eq!(written("$json.a['b'] = 1"), [true]);
    for code in
        ["$json.a += 1", "$json.a == 1", "$json.a++", "f(($json.a) => 1)", "$json.a.length = 0", "$json.a[i] = 1"]
    {
        assert_eq!(written(code), [false], "{code}");
    }
}

#[track_caller]
fn refuses(code: &str, kind: FaultKind) {
    let fault = scan(&format!("={{{{{code}}}}}"), Syntax::Expression).fault;
    assert_eq!(fault.map(|fault| fault.kind), Some(kind), "{code}");
}

#[test]
fn faults_have_a_reason() {
    refuses(" 'a ", FaultKind::UnclosedString);
    refuses(" `a${1} ", FaultKind::UnclosedTemplate);
    refuses(" `a${1 ", FaultKind::UnclosedTemplate);
    refuses(" a.match(/x) ", FaultKind::UnclosedRegex);
    refuses(" f(a ", FaultKind::UnclosedBracket('('));
    refuses(" [f(a] ", FaultKind::UnexpectedBracket(']'));
    refuses(" a) ", FaultKind::UnexpectedBracket(')'));
    refuses(" “a” ", FaultKind::UnexpectedCharacter('“'));
    refuses(" #a ", FaultKind::UnexpectedCharacter('#'));
    refuses(" 2024x ", FaultKind::LetterAfterNumber);
    refuses(" $json..a ", FaultKind::Dot);
    refuses(" $json.a. ", FaultKind::Dot);
    refuses(" .a ", FaultKind::Dot);
    refuses(" [{$json.a}] ", FaultKind::Dot);
    refuses(" a + ", FaultKind::Operand);
    refuses(" || a ", FaultKind::Operand);
    refuses(" a && ) ", FaultKind::UnexpectedBracket(')'));
    refuses(" f(a &&) ", FaultKind::Operand);
    refuses(" [-put-in-] ", FaultKind::Operand);
    refuses(" voice id ", FaultKind::Operator);
    refuses(" $('a').item $json ", FaultKind::Operator);
    refuses(" ['a' 'b'] ", FaultKind::Operator);
    refuses("  ", FaultKind::Empty);
    refuses(" const a = 1 ", FaultKind::Statement);
    refuses(" name: 1 ", FaultKind::Statement);
    let words = scan("={{ 'a }} x }}", Syntax::Expression).fault.unwrap().to_string();
    assert_eq!(words, "a string is not closed; the first }} ends an expression, even inside a string");
    let words = scan("={{ $json.total }", Syntax::Expression).fault.unwrap().to_string();
    assert_eq!(words, "'}' closes nothing; no }} closes the {{ of the expression");
}

#[test]
fn what_n8n_accepts_is_no_fault() {
    for code in [
        "a;",
        "a\nb",
        "f(a b)",
        "f({ day*: 4 })",
        "(() => { if (a ===(1) return 2; return 3 })()",
        "{a: 1 b: 2}",
        "[,]",
        "f(a,)",
        "1..toFixed()",
        "1.5e-3",
        "0x1F",
        "10n",
        "a?.5:1",
        "...[]",
        "(() => { if (a) return /x/; return b })()",
        "function* f() {}, 1",
        "async x => await x",
        "({ get a() { return 1 } })",
        "new Date()",
        "a ? {b: 1} : [c]",
        "x => ({})",
        "'\\'' + \"\\\"\"",
        "`a`",
        "a in b",
        "a++ + ++b",
        "é",
        "a /* x",
        "a // x",
    ] {
        let text = format!("={{{{ {code} }}}}");
        let fault = scan(&text, Syntax::Expression).fault.filter(|_| code != "...[]" && !code.starts_with("function*"));
        assert_eq!(fault, None, "{code}");
    }
    for code in [
        "class A { #a = 1; *b() {} get c() { return this.#a } }",
        "case1: for (const a of b) { continue case1 }",
        "",
        "switch (x) { case 'a': { const y = 1\n f(y)\n break } default: { const z = 2\n f(z) } }",
        "switch (x) { case a ? b : c: { const y = 1\n f(y)\n break }\n case {a: 1}.a: { let z\n f(z) } }",
        "const a = b ? c : d;\nouter: { const y = 1\n f(y) }",
        "outer: { const y = 1\n f(y) }",
        "const f = (x) => { switch (x) { case `${1 ? 2 : 3}`: { const y = 1\n f(y) } } }",
        // What follows a `?` is an object: its members may be without a comma only in an expression.
        "const a = b ? {c: 1} : {d: 2}",
        "const a = b ? c ? {d: 1} : {e: 2} : {f: 3}",
        "const a = {b: {c: 1}, default: {d: 2}, case: {e: 3}}\nf(a)",
        "return x ? {a: 1, b: 2} : {get a() { return 1 }, ...c, 'd': 4}",
    ] {
        assert_eq!(scan(code, Syntax::Code).fault, None, "{code}");
    }
}

#[test]
fn only_n8ns_variables_look_unevaluated() {
    for (text, found) in [
        ("Hi {{ name }} {{$json.a}}!", Some("{{$json.a}}")),
        ("{{ $('X').item.json.a }}", Some("{{ $('X').item.json.a }}")),
        ("{{ $value }} {{ .Values }} {{ '$json' }}", None),
        ("{{ $json.a", None),
        ("{{ $json. }}", None),
    ] {
        assert_eq!(unevaluated(text).map(|range| &text[range]), found, "{text}");
    }
}

#[test]
fn any_text_is_read_in_no_time() {
    let mut state = 7_u64;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    const PIECES: [&str; 24] = [
        "$json", ".a", "$(", "'X'", ")", "[", "]", "{", "}", "{{", "}}", "`", "${", "/", "\\", "\n", "/*", "//", "\"",
        "?.", "é", "🎉", "$node", " ",
    ];
    let bytes: Vec<u8> = (0..1_000_000).map(|_| below(256) as u8).collect();
    let random = format!("={{{{{}", String::from_utf8_lossy(&bytes));
    let mixed = format!("={{{{{}", (0..100_000).map(|_| PIECES[below(24) as usize]).collect::<String>());
    let deep = [
        "(",
        "[",
        "{",
        "`${",
        "$(",
        "/*$",
        "$json.a/*$*/",
        "$('a')",
        "a?.",
        "!",
        "$json.a[",
        "//$\n",
        "a:{}",
        "if(v)",
        "({...$json.a,b:",
        "x=>x",
    ];
    let deep = deep.iter().map(|piece| format!("={{{{{}", piece.repeat(100_000 / piece.len())));
    let begun = std::time::Instant::now();
    for text in [random, mixed].into_iter().chain(deep) {
        for syntax in [Syntax::Expression, Syntax::Template, Syntax::Code] {
            scan(&text, syntax);
            rename(&text, syntax, "a", "b");
            mentions(&text, syntax, "X");
        }
    }
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

/// A path as people write it: `a.b[0]["c d"]`.
fn written(path: &[Step]) -> String {
    let mut to = String::new();
    for step in path {
        match step {
            Step::Index(index) => to.push_str(&format!("[{index}]")),
            Step::Name(name) if super::literal::is_identifier(name) => {
                if !to.is_empty() {
                    to.push('.');
                }
                to.push_str(name);
            }
            Step::Name(name) => to.push_str(&format!("[{}]", super::literal::quoted(name, '"', false))),
        }
    }
    to
}
