//! Rust source as a flat list of tokens, each with its line and whether it is test code.
//!
//! The compiler's own token rules do the work, so that a rule about `dbg!` never stumbles over a
//! comment or a string that speaks of it. Comments, doc comments included, leave no token.

use std::str::FromStr;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The word, the punctuation (`::` counts as one), the opening or closing bracket, or a
    /// literal as it is written.
    pub(crate) text: String,
    /// From 1.
    pub(crate) line: usize,
    /// Inside an item under `#[cfg(test)]` or `#[test]`. Files of a `tests` folder are not known here.
    pub(crate) in_test: bool,
    /// Inside an attribute.
    pub(crate) in_attribute: bool,
}

impl Token {
    /// What a string literal holds, escapes as written; `None` for anything else.
    pub(crate) fn string(&self) -> Option<&str> {
        let body = self.text.trim_start_matches(['b', 'c']);
        let body = body.strip_prefix('r').map_or(body, |raw| raw.trim_matches('#'));
        body.strip_prefix('"')?.strip_suffix('"')
    }
}

/// The tokens of one source file, or why it is no Rust.
pub(crate) fn read(source: &str) -> Result<Vec<Token>, String> {
    let stream = TokenStream::from_str(source).map_err(|error| error.to_string())?;
    let mut tokens = Vec::new();
    flatten(stream, Context::default(), &mut tokens);
    Ok(tokens)
}

/// Whether `tokens` reads `words` from its beginning.
pub(crate) fn starts_with(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && words.iter().zip(tokens).all(|(word, token)| *word == token.text)
}

#[derive(Clone, Copy, Default)]
struct Context {
    in_test: bool,
    in_attribute: bool,
}

fn flatten(stream: TokenStream, context: Context, tokens: &mut Vec<Token>) {
    // Set by `#[cfg(test)]` and `#[test]`, taken back at the end of the item that follows.
    let mut test_item = false;
    let mut trees = stream.into_iter().peekable();
    let mut in_hash = false;
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        let here = Context { in_test: context.in_test || test_item, ..context };
        let mut push = |text: String, line: usize, context: Context| {
            let Context { in_test, in_attribute } = context;
            tokens.push(Token { text, line, in_test, in_attribute });
        };
        let after_hash = std::mem::replace(&mut in_hash, false);
        match tree {
            TokenTree::Group(group) if after_hash && group.delimiter() == Delimiter::Bracket => {
                test_item |= marks_test(&group.stream());
                if !is_doc(&group.stream()) {
                    let context = Context { in_attribute: true, ..here };
                    push("[".into(), line, context);
                    flatten(group.stream(), context, tokens);
                    tokens.push(Token {
                        text: "]".into(),
                        line: group.span_close().start().line,
                        in_test: context.in_test,
                        in_attribute: true,
                    });
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                push(open.into(), line, here);
                flatten(group.stream(), here, tokens);
                let Context { in_test, in_attribute } = here;
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.into(), line, in_test, in_attribute });
                test_item &= group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Punct(first) if first.as_char() == ':' && first.spacing() == Spacing::Joint => {
                trees.next_if(|next| matches!(next, TokenTree::Punct(second) if second.as_char() == ':'));
                push("::".into(), line, here);
            }
            TokenTree::Punct(punct) => {
                // `#![inner]` and `#[outer]` attributes alike.
                in_hash = punct.as_char() == '#' || (after_hash && punct.as_char() == '!');
                test_item &= punct.as_char() != ';';
                push(punct.as_char().to_string(), line, here);
            }
            TokenTree::Ident(word) => push(word.to_string(), line, here),
            TokenTree::Literal(literal) => push(literal.to_string(), line, here),
        }
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// Whether this is the inside of `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, ..))]`.
fn marks_test(attribute: &TokenStream) -> bool {
    let text = attribute.to_string();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    words == ["test"] || (words.first() == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not"))
}

/// Whether this is the inside of `#[doc = ".."]`, which is what doc comments become.
fn is_doc(attribute: &TokenStream) -> bool {
    matches!(attribute.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "doc")
}

#[cfg(test)]
mod test {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        read(source).expect("the sample is Rust").into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_leave_nothing_and_paths_are_joined() {
        assert_eq!(
            texts("// a::b\n/* c */ x::y(1); /// doc\nfn z() {}"),
            ["x", "::", "y", "(", "1", ")", ";", "#", "fn", "z", "(", ")", "{", "}"]
        );
    }

    #[test]
    fn lines_count_from_one() {
        let tokens = read("a\n\nb { \n }").expect("the sample is Rust");
        assert_eq!(tokens.iter().map(|token| token.line).collect::<Vec<_>>(), [1, 3, 3, 4]);
    }

    #[test]
    fn test_code_is_what_stands_under_its_attributes_and_no_more() {
        let source = "fn a() { one } #[cfg(test)] mod t { fn b() { two } } fn c() { three }
                      #[test] fn d() { four } #[cfg(test)] use five; #[cfg(not(test))] fn e() { six }";
        let tokens = read(source).expect("the sample is Rust");
        let in_test = |word: &str| tokens.iter().find(|token| token.text == word).map(|token| token.in_test);
        for (word, expected) in
            [("one", false), ("two", true), ("three", false), ("four", true), ("five", true), ("six", false)]
        {
            assert_eq!(in_test(word), Some(expected), "{word}");
        }
    }

    #[test]
    fn strings_of_every_form_give_their_inside() {
        let source = r####"("a", r"b", r#"c"d"#, b"e", c"f", 'g', 7)"####;
        let tokens = read(source).expect("the sample is Rust");
        let strings: Vec<&str> = tokens.iter().filter_map(Token::string).collect();
        assert_eq!(strings, ["a", "b", "c\"d", "e", "f"]);
    }

    #[test]
    fn what_is_no_rust_is_an_error() {
        assert!(read("fn a( {").is_err());
    }
}
