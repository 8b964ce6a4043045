//! Scores verdicts on runs of simulated drives whose truth is known: `cargo xtask score`.
//!
//! `score forecast`, `score gains`, `score watch` and `score agree` have tables of their own; `score [--runs N] [--from N] [--kind KIND] [--half scored|tuned] [--corpus own|foreign] [--wrong]
//! [--show NUMBER] [--export FILE] [--drops FILE]`. Every drive here is simulated.

mod corpus;
mod drops;
mod export;
mod forecast;
mod gains;
mod live;
mod policy;
mod print;
mod reports;
mod tally;
#[cfg(test)]
mod test;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use tally::Tally;

/// Enough for the targets.
const RUNS: u64 = 2_400;
/// One for each core of a small machine.
const THREADS: usize = 2;

struct Arguments {
    runs: u64,
    /// So many runs of the half come before the first.
    from: u64,
    /// Only runs of this kind; all of them without.
    kind: Option<String>,
    scored: bool,
    foreign: bool,
    wrong: bool,
    show: Option<u64>,
    export: Option<PathBuf>,
    drops: Option<PathBuf>,
}

impl Arguments {
    /// The numbers of the runs asked for.
    fn numbers(&self) -> Vec<u64> {
        let of_kind = |number: &u64| {
            let drawn = || format!("{:?}", corpus::drawn(self.foreign, *number).kind);
            self.kind.as_ref().is_none_or(|kind| *kind == drawn())
        };
        let half = |n: u64| 2 * (self.from + n) + u64::from(self.scored);
        self.show.map_or_else(|| (0..self.runs).map(half).filter(of_kind).collect(), |one| vec![one])
    }
}

fn main() -> ExitCode {
    let mut typed = std::env::args().skip(1).peekable();
    match typed.peek().map(String::as_str) {
        Some("forecast") => return told("forecast", forecast::run(typed.skip(1))),
        Some("watch") => return told("watch", live::run(typed.skip(1))),
        Some("agree") => return told("agree", reports::run(typed.skip(1))),
        Some("gains") => return told("gains", gains::run(typed.skip(1))),
        _ => {}
    }
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "score: {why}");
            return ExitCode::from(2);
        }
    };
    let numbers = arguments.numbers();
    if numbers.is_empty() {
        let (runs, kind) = (arguments.runs, arguments.kind.as_deref().unwrap_or("any kind"));
        let _ = writeln!(
            std::io::stderr(),
            "score: no run of {kind} among these {runs}; the table by kind has the names, such as DutyCycled"
        );
        return ExitCode::from(2);
    }
    let runs = || numbers.iter().map(|number| labelled(arguments.foreign, *number));
    if let Some(path) = &arguments.export {
        return written(path, export::write(path, runs()));
    }
    if let Some(path) = &arguments.drops {
        return written(path, drops::write(path, runs()));
    }
    let text = match arguments.show {
        Some(number) => print::one(labelled(arguments.foreign, number)),
        None => print::all(&run(&numbers, arguments.foreign), arguments.scored, arguments.wrong),
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn written(path: &Path, result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "score: cannot write {}: {why}", path.display());
            ExitCode::from(2)
        }
    }
}

/// A table, or why there is none.
fn told(what: &str, table: Result<String, String>) -> ExitCode {
    let written = match &table {
        Ok(text) => std::io::stdout().write_all(text.as_bytes()),
        Err(why) => writeln!(std::io::stderr(), "score {what}: {why}"),
    };
    match (table, written) {
        (Ok(_), Ok(())) => ExitCode::SUCCESS,
        (Ok(_), Err(_)) => ExitCode::FAILURE,
        (Err(_), _) => ExitCode::from(2),
    }
}

fn labelled(foreign: bool, number: u64) -> corpus::Labelled {
    if foreign { corpus::foreign(number) } else { corpus::labelled(number) }
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        runs: RUNS,
        from: 0,
        kind: None,
        scored: true,
        foreign: false,
        wrong: false,
        show: None,
        export: None,
        drops: None,
    };
    let mut typed = std::env::args().skip(1);
    while let Some(name) = typed.next() {
        let mut value = || typed.next().ok_or(format!("{name} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no whole number"));
        match name.as_str() {
            "--runs" => arguments.runs = number(value()?)?,
            "--from" => arguments.from = number(value()?)?,
            "--kind" => arguments.kind = Some(value()?),
            "--show" => arguments.show = Some(number(value()?)?),
            "--export" => arguments.export = Some(PathBuf::from(value()?)),
            "--drops" => arguments.drops = Some(PathBuf::from(value()?)),
            "--wrong" => arguments.wrong = true,
            "--half" => match value()?.as_str() {
                "scored" => arguments.scored = true,
                "tuned" => arguments.scored = false,
                other => return Err(format!("--half is scored or tuned, not {other}")),
            },
            "--corpus" => match value()?.as_str() {
                "own" => arguments.foreign = false,
                "foreign" => arguments.foreign = true,
                other => return Err(format!("--corpus is own or foreign, not {other}")),
            },
            other => {
                return Err(format!(
                    "{other}: known are --runs N, --from N, --kind KIND, --half scored|tuned, --corpus own|foreign, --wrong, --show N, --export FILE, --drops FILE"
                ));
            }
        }
    }
    Ok(arguments)
}

/// Scores the runs of a half.
fn run(numbers: &[u64], foreign: bool) -> Tally {
    let parts = on_all_cores(numbers.len(), |n| {
        let labelled = labelled(foreign, numbers[n]);
        tally::score(&labelled, &analysis::analyze(&labelled.trace))
    });
    let mut sum = Tally::default();
    for part in parts {
        sum.add(part);
    }
    sum
}

/// What `work` makes of each number below `count`, in their order.
fn on_all_cores<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let part = || {
        let mut done = Vec::new();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                n if n < count => done.push((n, work(n))),
                _ => return done,
            }
        }
    };
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(part)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("scoring does not panic")).collect()
    });
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, one)| one).collect()
}
