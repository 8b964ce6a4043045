//! "Did you mean": the valid names nearest to one that is not.

/// How alike two names must be to be worth a mention, from 0 to 1 (Jaro-Winkler).
///
/// 0.8 is what clap takes for its own suggestions' neighbours: one slip in a short word passes, a
/// different word does not.
const ALIKE: f64 = 0.8;

/// What to say after an unknown `name`: the nearest of `valid`, else all of them.
pub(crate) fn suggestion(name: &str, valid: &[&str]) -> String {
    let mut alike: Vec<(f64, &str)> = valid
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    match alike.as_slice() {
        [] => format!("there are {}", valid.join(", ")),
        [(_, one)] => format!("did you mean {one}?"),
        [(_, first), (_, second), ..] => format!("did you mean {first} or {second}?"),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_lists_them_all() {
        let valid = ["quick", "hctm-read", "power"];
        assert_eq!(suggestion("hctm-raed", &valid), "did you mean hctm-read?");
        assert_eq!(suggestion("zzz", &valid), "there are quick, hctm-read, power");
    }
}
