//! The bar for size and documentation: small functions, short files, a documented surface.

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Attribute, Visibility};

use crate::source::Source;
use crate::tree::{File, repository};
use crate::{assert_none, assert_one};

/// Lines of the longest function: signature to closing brace.
const LONGEST_FUNCTION: usize = 80;
/// Lines of the middle function, and of the one that nine in ten do not exceed.
const FUNCTION_MEDIAN: usize = 8;
const FUNCTION_P90: usize = 35;
/// Lines of the longest file, and of the one that nine in ten do not exceed.
const LONGEST_FILE: usize = 800;
const FILE_P90: usize = 500;
/// Public items with a doc comment, in percent.
const DOCUMENTED: usize = 90;

/// Functions that are tables, by file and name: they may be long.
const TABLES: &[(&str, &str)] = &[];

/// What is measured over the whole repository.
#[derive(Debug, Default)]
struct Figures {
    /// Lines of each function, with where and what it is.
    functions: Vec<(usize, String)>,
    /// Lines of each file without its tests.
    files: Vec<(usize, String)>,
    /// Public items.
    public: usize,
    /// Public items without a doc comment.
    bare: Vec<String>,
}

fn measure(files: &[File]) -> Figures {
    let mut figures = Figures::default();
    let code = |path: &str| path.starts_with("crates/") || path.starts_with("xtask/");
    for source in files.iter().filter(|f| code(&f.path)).filter_map(Source::read) {
        figures.files.push((lines_of(&source), source.path.clone()));
        let parsed: syn::File = syn::parse2(source.tokens.clone()).expect("what the tokeniser took");
        Measuring { source: &source, figures: &mut figures }.visit_file(&parsed);
    }
    figures
}

/// Lines that hold a token or a doc comment of the file's own code, gaps included up to the last.
fn lines_of(source: &Source) -> usize {
    source.tokens.clone().into_iter().last().map_or(0, |last| last.span().end().line)
}

fn check(figures: &Figures) -> Vec<String> {
    let mut problems = Vec::new();
    let too_long = |list: &[(usize, String)], bar: usize| -> Vec<String> {
        let long = list.iter().filter(|(lines, _)| *lines > bar);
        long.map(|(lines, what)| format!("{what}: {lines} lines, at most {bar}")).collect()
    };
    problems.extend(too_long(&figures.functions, LONGEST_FUNCTION));
    problems.extend(too_long(&figures.files, LONGEST_FILE));
    for (what, list, tenths, bar) in [
        ("median function", &figures.functions, 5, FUNCTION_MEDIAN),
        ("function at p90", &figures.functions, 9, FUNCTION_P90),
        ("file at p90", &figures.files, 9, FILE_P90),
    ] {
        let lines = quantile(list, tenths);
        if lines > bar {
            problems.push(format!("{what}: {lines} lines, at most {bar}"));
        }
    }
    let documented = figures.public - figures.bare.len();
    if documented * 100 < figures.public * DOCUMENTED {
        let bare = figures.bare.join(", ");
        problems.push(format!("documented: {documented} of {} public items; not: {bare}", figures.public));
    }
    problems
}

/// The value that so many tenths of the list do not exceed.
fn quantile(list: &[(usize, String)], tenths: usize) -> usize {
    let mut lines: Vec<usize> = list.iter().map(|(lines, _)| *lines).collect();
    lines.sort_unstable();
    let place = (lines.len() * tenths).div_ceil(10).saturating_sub(1);
    lines.get(place).copied().unwrap_or(0)
}

/// One line for people who want to know how it stands.
fn summary(f: &Figures) -> String {
    format!(
        "{} functions: median {}, p90 {}, longest {}; {} files: p90 {}, longest {}; {} of {} public items documented",
        f.functions.len(),
        quantile(&f.functions, 5),
        quantile(&f.functions, 9),
        quantile(&f.functions, 10),
        f.files.len(),
        quantile(&f.files, 9),
        quantile(&f.files, 10),
        f.public - f.bare.len(),
        f.public
    )
}

/// Walks a file and notes functions and public items.
struct Measuring<'a> {
    source: &'a Source,
    figures: &'a mut Figures,
}

impl Measuring<'_> {
    fn function(&mut self, name: &syn::Ident, start: Span, end: Span) {
        let name = name.to_string();
        let lines = end.end().line + 1 - start.start().line;
        if !TABLES.contains(&(self.source.path.as_str(), name.as_str())) {
            let at = self.source.at(start.start().line);
            self.figures.functions.push((lines, format!("{at}: fn {name}")));
        }
    }

    fn item(&mut self, vis: &Visibility, attrs: &[Attribute], name: &syn::Ident) {
        if matches!(vis, Visibility::Public(_)) {
            self.documentable(attrs, name);
        }
    }

    fn documentable(&mut self, attrs: &[Attribute], name: &syn::Ident) {
        self.figures.public += 1;
        if !attrs.iter().any(|a| a.path().is_ident("doc")) {
            self.figures.bare.push(format!("{} `{name}`", self.source.at(name.span().start().line)));
        }
    }
}

impl<'ast> Visit<'ast> for Measuring<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.item(&node.vis, &node.attrs, &node.sig.ident);
        self.function(&node.sig.ident, node.sig.fn_token.span, node.block.brace_token.span.close());
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.item(&node.vis, &node.attrs, &node.sig.ident);
        self.function(&node.sig.ident, node.sig.fn_token.span, node.block.brace_token.span.close());
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig.ident, node.sig.fn_token.span, block.brace_token.span.close());
        }
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.item(&node.vis, &node.attrs, &node.ident);
        visit::visit_item_struct(self, node);
    }

    fn visit_field(&mut self, node: &'ast syn::Field) {
        if let Some(name) = &node.ident {
            self.item(&node.vis, &node.attrs, name);
        }
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.item(&node.vis, &node.attrs, &node.ident);
        if matches!(node.vis, Visibility::Public(_)) {
            node.variants.iter().for_each(|v| self.documentable(&v.attrs, &v.ident));
        }
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.item(&node.vis, &node.attrs, &node.ident);
        visit::visit_item_trait(self, node);
    }

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.item(&node.vis, &node.attrs, &node.ident);
    }

    fn visit_item_type(&mut self, node: &'ast syn::ItemType) {
        self.item(&node.vis, &node.attrs, &node.ident);
    }
}

#[test]
fn code_stays_within_the_bar() {
    let figures = measure(&repository());
    println!("{}", summary(&figures));
    assert_none(&check(&figures));
}

fn code(text: &str) -> Figures {
    measure(&[File::new("crates/core/src/x.rs", text)])
}

#[test]
fn long_functions_are_reported() {
    let long = format!("fn short() {{}}\nfn short_too() {{}}\nfn long() {{{}}}", "\n".repeat(80));
    let short = "fn s() {}\n".repeat(20);
    assert_one(&check(&code(&(short.clone() + &long))), "x.rs:23: fn long: 81 lines, at most 80");
    let nearly = format!("fn long() {{{}}}", "\n".repeat(79));
    assert_none(&check(&code(&(short + &nearly))));
}

#[test]
fn functions_that_are_mostly_long_are_reported() {
    assert_one(&check(&code(&"fn f() {\n\n\n\n\n\n\n\n}\n".repeat(5))), "median function: 9 lines");
    let text = "fn f() {}\n".repeat(8) + &format!("fn g() {{{}}}\n", "\n".repeat(40)).repeat(2);
    assert_one(&check(&code(&text)), "function at p90: 41 lines");
}

#[test]
fn long_files_are_reported_but_not_for_their_tests() {
    let long = format!("const A: u8 = 0;{}const B: u8 = 0;", "\n".repeat(800));
    let problems = check(&code(&long));
    assert!(problems[0].contains("x.rs: 801 lines, at most 800"), "{problems:?}");
    let tests = format!("const A: u8 = 0;\n#[cfg(test)]\nmod tests {{{}}}", "\n".repeat(800));
    assert_none(&check(&code(&tests)));
}

#[test]
fn undocumented_public_items_are_reported() {
    let text = "/// A.\npub struct A { /// B.\n pub b: u8, pub c: u8, d: u8 }\npub enum E { F }";
    let figures = code(text);
    assert_eq!((figures.public, figures.bare.len()), (5, 3));
    assert_one(&check(&figures), "documented: 2 of 5");
}
