//! A Rust file without its tests: the paths, words, macros and functions in it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::tree::File;

/// A Rust file, `#[cfg(test)]` items taken out.
pub(crate) struct Source {
    /// Path from the root.
    pub(crate) path: String,
    /// Its module path inside its crate: `["archs", "roles"]`; empty for the crate root.
    pub(crate) module: Vec<String>,
    /// The tokens that remain.
    pub(crate) tokens: TokenStream,
}

/// Something found in a file, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found<T> {
    /// What.
    pub(crate) what: T,
    /// Line, from 1.
    pub(crate) line: usize,
}

impl Source {
    /// Reads a file; `None` when it is not Rust or test code as a whole. Code that does not parse
    /// is the compiler's business, so it panics.
    pub(crate) fn read(file: &File) -> Option<Self> {
        if !file.is("rs") || file.is_test() {
            return None;
        }
        let tokens: TokenStream =
            file.text.parse().unwrap_or_else(|e| panic!("{} is not Rust: {e}", file.path));
        Some(Self { path: file.path.clone(), module: module_of(&file.path), tokens: without_tests(tokens) })
    }

    /// The Rust files of one folder.
    pub(crate) fn under(files: &[File], folder: &str) -> Vec<Self> {
        files.iter().filter(|f| f.path.starts_with(folder)).filter_map(Self::read).collect()
    }

    /// Where something was found, as an editor understands it.
    pub(crate) fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }

    /// Every path that starts at `crate`, `self` or `super`, made absolute: `crate::a::{b, c::d}`
    /// gives `a::b` and `a::c::d`.
    pub(crate) fn crate_paths(&self) -> Vec<Found<Vec<String>>> {
        let mut scan = Scan { starts: &["crate", "self", "super"], found: Vec::new() };
        scan.tokens(&self.tokens, &self.module);
        scan.found
    }

    /// Every path that starts at the crate `name`, macros included.
    pub(crate) fn paths_from(&self, name: &str) -> Vec<Found<Vec<String>>> {
        let mut scan = Scan { starts: &[name], found: Vec::new() };
        scan.tokens(&self.tokens, &self.module);
        scan.found
    }

    /// Names of the macros called.
    pub(crate) fn macros(&self) -> Vec<Found<String>> {
        let mut found = Vec::new();
        each_level(&self.tokens, &mut |level| {
            for window in level.windows(3) {
                if let [TokenTree::Ident(name), bang, TokenTree::Group(_)] = window
                    && is_punct(bang, '!')
                {
                    found.push(Found { what: name.to_string(), line: name.span().start().line });
                }
            }
        });
        found
    }

    /// Every name and every literal, comments apart.
    pub(crate) fn words(&self) -> Vec<Found<String>> {
        let mut found = Vec::new();
        each_level(&self.tokens, &mut |level| {
            for token in level {
                if let TokenTree::Ident(_) | TokenTree::Literal(_) = token {
                    found.push(Found { what: token.to_string(), line: token.span().start().line });
                }
            }
        });
        found
    }

    /// Lints switched off or down by an attribute.
    pub(crate) fn silenced_lints(&self) -> Vec<Found<String>> {
        let mut found = Vec::new();
        each_level(&self.tokens, &mut |level| {
            if let [TokenTree::Ident(verb), TokenTree::Group(list), ..] = level
                && ["allow", "expect", "warn"].iter().any(|v| verb == v)
            {
                let line = verb.span().start().line;
                let names = list.stream().into_iter().filter(|t| matches!(t, TokenTree::Ident(_)));
                found.extend(names.map(|name| Found { what: name.to_string(), line }));
            }
        });
        found
    }
}

/// The module path of a file below `src/`.
fn module_of(path: &str) -> Vec<String> {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let mut module: Vec<String> = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

/// Takes out every item behind `#[cfg(test)]`, and everything behind `#![cfg(test)]`.
fn without_tests(tokens: TokenStream) -> TokenStream {
    let level: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept = Vec::new();
    let mut i = 0;
    while i < level.len() {
        if is_punct(&level[i], '#') {
            let inner = level.get(i + 1).is_some_and(|t| is_punct(t, '!'));
            if level.get(i + 1 + usize::from(inner)).is_some_and(is_cfg_test) {
                i = if inner { level.len() } else { after_item(&level, i + 2) };
                continue;
            }
        }
        kept.push(match &level[i] {
            TokenTree::Group(group) => TokenTree::Group(map_group(group)),
            other => other.clone(),
        });
        i += 1;
    }
    kept.into_iter().collect()
}

fn map_group(group: &Group) -> Group {
    let mut mapped = Group::new(group.delimiter(), without_tests(group.stream()));
    mapped.set_span(group.span());
    mapped
}

/// The index behind the item that starts at `i`: it ends with a block, a semicolon, or both.
fn after_item(level: &[TokenTree], mut i: usize) -> usize {
    while i < level.len() {
        let ends = is_punct(&level[i], ';') || is_group(&level[i], Delimiter::Brace);
        i += 1;
        if ends {
            let block_and_semicolon = level.get(i).is_some_and(|t| is_punct(t, ';'));
            return i + usize::from(block_and_semicolon);
        }
    }
    i
}

/// Is this `[cfg(test)]`, or `[cfg(all(test, …))]`?
fn is_cfg_test(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let text = group.stream().to_string();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words.first() == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not")
}

/// Calls `look` on the tokens of every nesting level, doc comments left out.
fn each_level(tokens: &TokenStream, look: &mut impl FnMut(&[TokenTree])) {
    let level: Vec<TokenTree> = tokens.clone().into_iter().collect();
    look(&level);
    for token in &level {
        if let TokenTree::Group(group) = token
            && !is_doc(group)
        {
            each_level(&group.stream(), look);
        }
    }
}

/// Is this the `[doc = "…"]` that a doc comment becomes?
fn is_doc(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == wanted)
}

fn is_group(token: &TokenTree, wanted: Delimiter) -> bool {
    matches!(token, TokenTree::Group(g) if g.delimiter() == wanted)
}

/// Collects paths that start at one of a few words.
struct Scan<'a> {
    starts: &'a [&'a str],
    found: Vec<Found<Vec<String>>>,
}

impl Scan<'_> {
    /// Looks through a stream that stands in `module`.
    fn tokens(&mut self, tokens: &TokenStream, module: &[String]) {
        let level: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut i = 0;
        while i < level.len() {
            match &level[i..] {
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body), ..]
                    if word == "mod" =>
                {
                    let inner = [module, &[name.to_string()]].concat();
                    self.tokens(&body.stream(), &inner);
                    i += 3;
                }
                [TokenTree::Ident(start), rest @ ..]
                    if self.starts.iter().any(|s| start == s)
                        && is_double_colon(rest)
                        && !(i >= 2 && is_double_colon(&level[i - 2..])) =>
                {
                    self.path(&level[i..], &[], module);
                    i += 1;
                }
                [TokenTree::Group(group), ..] => {
                    self.tokens(&group.stream(), module);
                    i += 1;
                }
                _ => i += 1,
            }
        }
    }

    /// Reads one path behind `prefix`, with its groups.
    fn path(&mut self, tokens: &[TokenTree], prefix: &[String], module: &[String]) {
        let Some(TokenTree::Ident(first)) = tokens.first() else { return };
        let line = first.span().start().line;
        let mut segments = [prefix, &[first.to_string()]].concat();
        let mut rest = &tokens[1..];
        while is_double_colon(rest) {
            match rest.get(2) {
                Some(TokenTree::Ident(name)) => segments.push(name.to_string()),
                Some(TokenTree::Group(group)) => {
                    let list: Vec<TokenTree> = group.stream().into_iter().collect();
                    for entry in list.split(|t| is_punct(t, ',')) {
                        self.path(entry, &segments, module);
                    }
                    return;
                }
                _ => break,
            }
            rest = &rest[3..];
        }
        self.found.push(Found { what: absolute(&segments, module), line });
    }
}

fn is_double_colon(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [a, b, ..] if is_punct(a, ':') && is_punct(b, ':'))
}

/// `super::x` seen in `a::b` is `a::x`.
fn absolute(segments: &[String], module: &[String]) -> Vec<String> {
    let mut path: Vec<String> = Vec::new();
    for (i, segment) in segments.iter().enumerate() {
        match segment.as_str() {
            "crate" => path.clear(),
            "self" if i == 0 => path = module.to_vec(),
            "self" => {}
            "super" => {
                if i == 0 {
                    path = module.to_vec();
                }
                path.pop();
            }
            name => path.push(name.to_owned()),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::read(&File::new("crates/core/src/a/b.rs", text)).unwrap()
    }

    fn joined(found: &[Found<Vec<String>>]) -> Vec<String> {
        found.iter().map(|f| f.what.join("::")).collect()
    }

    #[test]
    fn files_know_their_module() {
        assert_eq!(module_of("crates/core/src/archs/mod.rs"), ["archs"]);
        assert_eq!(module_of("crates/core/src/archs/roles.rs"), ["archs", "roles"]);
        assert!(module_of("crates/core/src/lib.rs").is_empty());
    }

    #[test]
    fn paths_are_found_in_groups_expressions_types_and_macros() {
        let text =
            "use crate::{c, d::{self, e as f}};\nfn g(x: super::h::I) { vec![crate::j::K::<u8>(self::l())] }";
        let paths = source(text).crate_paths();
        assert_eq!(joined(&paths), ["c", "d", "d::e", "a::h::I", "j::K", "a::b::l"]);
        assert_eq!(paths[3].line, 2);
    }

    #[test]
    fn super_in_an_inline_module_is_the_file_itself() {
        assert_eq!(joined(&source("mod m { use super::x; }").crate_paths()), ["a::b::x"]);
    }

    #[test]
    fn tests_comments_and_strings_are_left_out() {
        let text = "/// crate::z\nconst S: &str = \"crate::y\"; #[cfg(test)] use crate::{x};\n\
                    #[cfg(test)] #[allow(unused)] mod tests { use crate::w; } use crate::kept;";
        assert_eq!(joined(&source(text).crate_paths()), ["kept"]);
        assert!(source("#![cfg(test)] use crate::x;").crate_paths().is_empty());
        assert_eq!(joined(&source("#[cfg(not(test))] use crate::x;").crate_paths()), ["x"]);
    }

    #[test]
    fn macros_words_and_silenced_lints_are_found() {
        let s = source("#![allow(clippy::todo)]\n/// Word\nfn name() { outer!(inner!(\"text\")) }");
        let macros: Vec<String> = s.macros().into_iter().map(|m| m.what).collect();
        assert_eq!(macros, ["outer", "inner"]);
        assert!(s.words().iter().any(|w| w.what == "\"text\"" && w.line == 3));
        assert!(!s.words().iter().any(|w| w.what.contains("Word")));
        assert!(s.silenced_lints().iter().any(|l| l.what == "todo"));
    }
}
