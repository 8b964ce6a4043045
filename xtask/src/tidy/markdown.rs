//! Rules about prose: one title a document, and links into the tree that lead somewhere.
//!
//! Links to the web are left alone: this machine may have none. Anchors are compared with the
//! headings of the document they point into, by GitHub's rule for making them.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::Finding;
use super::tree::Tree;

/// Findings in every Markdown file, the generated ones included.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let ours = tree.texts().filter(|(path, _)| path.ends_with(".md"));
    ours.flat_map(|(path, text)| {
        let document = Document::read(text);
        let links = document.links.iter().filter_map(|link| check_link(tree, path, link));
        title(path, &document).into_iter().chain(links).collect::<Vec<_>>()
    })
    .collect()
}

/// What the rules need of one document.
struct Document {
    title_lines: Vec<usize>,
    anchors: Vec<String>,
    links: Vec<Link>,
}

struct Link {
    line: usize,
    to: String,
}

impl Document {
    fn read(text: &str) -> Self {
        let mut document = Self { title_lines: Vec::new(), anchors: Vec::new(), links: Vec::new() };
        let mut heading: Option<String> = None;
        let line_of = |range: &Range<usize>| text[..range.start].matches('\n').count() + 1;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    heading = Some(String::new());
                    if level == HeadingLevel::H1 {
                        document.title_lines.push(line_of(&range));
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    let slug = slug(&heading.take().unwrap_or_default());
                    let same = document.anchors.iter().filter(|known| **known == slug).count();
                    document.anchors.push(if same == 0 { slug } else { format!("{slug}-{same}") });
                }
                Event::Text(words) | Event::Code(words) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(Link { line: line_of(&range), to: dest_url.into_string() });
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let line = line_of(&range);
                    document.links.extend(html_links(&html).map(|to| Link { line, to: to.into() }));
                }
                _ => {}
            }
        }
        document
    }
}

/// What `<img src="..">` and `<a href="..">` point to.
fn html_links(html: &str) -> impl Iterator<Item = &str> {
    ["src=\"", "href=\""]
        .into_iter()
        .flat_map(move |mark| html.split(mark).skip(1).filter_map(|after| after.split('"').next()))
}

/// GitHub's anchor of a heading: lower case, no punctuation, `-` for a space.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn title(path: &str, document: &Document) -> Option<Finding> {
    let instead = "open with one `# Title` and use `##` below it";
    match document.title_lines.as_slice() {
        [_] => None,
        [] => Some(Finding::new("title", path, 1, "no `# Title`", instead)),
        [_, second, ..] => Some(Finding::new("title", path, *second, "a second `# Title`", instead)),
    }
}

fn check_link(tree: &Tree, path: &str, link: &Link) -> Option<Finding> {
    let Link { line, to } = link;
    let on_the_web = to.split(['/', '#']).next().is_some_and(|scheme| scheme.contains(':'));
    if on_the_web {
        return None;
    }
    let (target, anchor) =
        to.split_once('#').map_or((to.as_str(), None), |(file, anchor)| (file, Some(anchor)));
    let target = if target.is_empty() { Some(path.to_owned()) } else { resolve(path, target) };
    let Some(target) = target.filter(|target| tree.holds(target)) else {
        let instead = "point to a file of the tree, written from the document's own folder";
        return Some(Finding::new("link", path, *line, format!("`{to}` leads nowhere"), instead));
    };
    let anchors = Document::read(tree.text(&target).filter(|_| target.ends_with(".md"))?).anchors;
    let anchor = anchor.filter(|anchor| !anchors.iter().any(|known| known == anchor))?;
    let what = format!("`{target}` has no heading for `#{anchor}`");
    Some(Finding::new("link", path, *line, what, format!("it has: {}", anchors.join(", "))))
}

/// The path from the root of what `to` means in the document at `path`; `None` outside the tree.
fn resolve(path: &str, to: &str) -> Option<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    if to.starts_with('/') {
        return None;
    }
    for part in to.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod test {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(&'static str, usize)> {
        check(&Tree::from_texts(files)).iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    #[test]
    fn a_document_has_one_title() {
        assert_eq!(found(&[("a.md", "# A\n\n```sh\n# a comment\n```\n## B\n")]), []);
        assert_eq!(found(&[("a.md", "## B\n")]), [("title", 1)]);
        assert_eq!(found(&[("a.md", "# A\n\n# B\n")]), [("title", 3)]);
    }

    #[test]
    fn links_into_the_tree_lead_somewhere() {
        let text =
            "# A\n[b](docs/B.md) [c](docs/C.md)\n![d](docs/)\n\n<img src=\"docs/e.png\">\n[w](mailto:x)\n";
        assert_eq!(found(&[("a.md", text), ("docs/B.md", "# B\n")]), [("link", 2), ("link", 5)]);
    }

    #[test]
    fn links_go_up_from_a_folder_but_not_out_of_the_tree() {
        let text = "# A\n[up](../README.md)\n[out](../../x)\n[root](/README.md)\n[self](#a)\n";
        assert_eq!(found(&[("docs/a.md", text), ("README.md", "# R\n")]), [("link", 3), ("link", 4)]);
    }

    #[test]
    fn anchors_are_headings_of_the_target() {
        let b = "# B\n## What `slat` means, exactly\n## Twice\n## Twice\n";
        let text = "# A\n[x](b.md#what-slat-means-exactly)\n[y](b.md#twice-1)\n[z](b.md#nowhere)\n";
        assert_eq!(found(&[("a.md", text), ("b.md", b)]), [("link", 4)]);
    }

    #[test]
    fn links_in_code_are_no_links() {
        assert_eq!(found(&[("a.md", "# A\n`[b](nowhere)`\n\n    [c](nowhere)\n")]), []);
    }
}
