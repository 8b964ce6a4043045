//! What was typed, without what concerns this machine alone. clap has taken it already, so a word that looks like one of
//! these options is one.

use std::ffi::OsString;

use anyhow::Context as _;

/// Whether the folder of a run is made here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForRun {
    No,
    /// Findings and report of the copy are made here.
    One,
    /// All of it is made there.
    Sweep,
    /// A watch: its record arrives, and it is shown here.
    Watch,
}

/// Options with a value, and without.
const WITH_VALUE: [&str; 3] = ["--on", "--ssh", "--if-link-lost"];
const ALONE: [&str; 2] = ["--sudo", "--install"];
/// Of a run, what is done with its copy.
const OF_ONE: [&str; 3] = ["--json", "--fit", "--no-report"];
/// Of a watch, how it is shown.
const OF_WATCH: [&str; 2] = ["--json", "--plain"];

/// The command and its arguments for the other machine.
///
/// # Errors
/// When something that was typed is no text, which the other side could not take.
pub(super) fn arguments(typed: impl Iterator<Item = OsString>, run: ForRun) -> anyhow::Result<Vec<String>> {
    let text = |word: OsString| {
        let shown = word.to_string_lossy().into_owned();
        word.into_string()
            .ok()
            .with_context(|| format!("cannot send {shown:?} to another machine: it is no UTF-8"))
    };
    let words: Vec<String> = typed.skip(1).map(text).collect::<Result<_, _>>()?;
    let (options, rest) = words.split_at(words.iter().position(|word| word == "--").unwrap_or(words.len()));
    let is_run = run != ForRun::No;
    let mut kept = Vec::new();
    let mut options = options.iter();
    while let Some(word) = options.next() {
        let name = word.split('=').next().unwrap_or(word);
        let is_out = is_run && name == "--out";
        if WITH_VALUE.contains(&name) || is_out {
            if !word.contains('=') {
                options.next();
            }
        } else if ALONE.contains(&name)
            || (run == ForRun::One && OF_ONE.contains(&name))
            || (run == ForRun::Watch && OF_WATCH.contains(&name))
        {
        } else if let Some((before, value)) = short_out(word).filter(|_| is_run) {
            if value.is_empty() {
                options.next();
            }
            kept.extend((!before.is_empty()).then(|| format!("-{before}")));
        } else {
            kept.push(word.clone());
        }
    }
    match run {
        ForRun::One => kept.extend(["--no-report", "--news"].map(str::to_owned)),
        ForRun::Watch => kept.push("--news".to_owned()),
        ForRun::No | ForRun::Sweep => {}
    }
    kept.extend_from_slice(rest);
    Ok(kept)
}

/// `-o`, `-oDIR`, `-qo`: the flags before, and the value behind.
fn short_out(word: &str) -> Option<(&str, &str)> {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let before = letters.len() - letters.trim_start_matches('q').len();
    let value = letters[before..].strip_prefix('o')?;
    Some((&letters[..before], value))
}

#[cfg(test)]
mod test {
    use super::*;

    fn sent(typed: &str, run: ForRun) -> String {
        let words = ["heatsoak"].into_iter().chain(typed.split_whitespace()).map(OsString::from);
        arguments(words, run).expect("text").join(" ")
    }

    #[test]
    fn what_concerns_this_machine_stays_here() {
        let cases = [
            ("inspect --on lab /dev/nvme0 --json", ForRun::No, "inspect /dev/nvme0 --json"),
            (
                "hctm --on=lab --sudo --install --ssh=x /dev/nvme0 --tmt1 60C",
                ForRun::No,
                "hctm /dev/nvme0 --tmt1 60C",
            ),
            ("run quick --out here --on lab -q --json", ForRun::One, "run quick -q --no-report --news"),
            (
                "run quick -ohere -d /dev/sda --install=x",
                ForRun::One,
                "run quick -d /dev/sda --no-report --news",
            ),
            ("run -qo here --if-link-lost finish --fit", ForRun::One, "run -q --no-report --news"),
            (
                "watch /dev/sda --on lab --plain -o here --keep 7d",
                ForRun::Watch,
                "watch /dev/sda --keep 7d --news",
            ),
            ("run hctm-sweep --json --out here", ForRun::Sweep, "run hctm-sweep --json"),
            ("run --on lab -- --sudo", ForRun::One, "run --no-report --news -- --sudo"),
        ];
        for (typed, run, expected) in cases {
            assert_eq!(sent(typed, run), expected, "{typed}");
        }
    }
}
