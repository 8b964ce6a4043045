//! "Did you mean": the valid names nearest to one that is not.

/// Names less similar than this are not worth offering: below it, unrelated words begin to appear.
const SIMILAR_ENOUGH: f64 = 0.72;

/// The names most like `typed`, best first, three at most.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = typed.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&typed, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= SIMILAR_ENOUGH)
        .collect();
    // Ties are broken by name, so that an error reads the same every time.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// "did you mean `a` or `b`? " where something is near, and nothing where not; ready to stand before a list.
pub fn did_you_mean<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near: Vec<String> = nearest(typed, names).iter().map(|name| format!("`{name}`")).collect();
    if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn near_names_come_first_and_far_ones_not_at_all() {
        let names = ["block_size", "block_sizes", "depth", "duration"];
        assert_eq!(nearest("bloc_size", names), ["block_size", "block_sizes"]);
        assert_eq!(nearest("Depht", names), ["depth"]);
        assert_eq!(nearest("zzz", names), [""; 0]);
        assert_eq!(did_you_mean("zzz", names), "");
        assert_eq!(did_you_mean("Depht", names), "did you mean `depth`? ");
    }
}
