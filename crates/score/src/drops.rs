//! Writes every drop that was judged with what each observation weighed and what it was in truth, so that weights can be
//! fitted and rules be left out by other programs: one JSON document a line.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use analysis::findings::{Event, EventKind};
use serde_json::{Value, json};

use crate::corpus::{Episode, Labelled};
use crate::tally::off_s;

/// Writes the drops of these runs to `path`.
pub(crate) fn write(path: &Path, runs: impl Iterator<Item = Labelled>) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    for run in runs {
        let (_, explained) = analysis::explain(&run.trace);
        let begins = explained.iter().filter(|e| e.event.kind != EventKind::ThrottleRelease);
        for explanation in begins {
            let Some(truth) = truth(&run, &explanation.event) else { continue };
            let rows: Vec<Value> = explanation
                .observations
                .iter()
                .map(|seen| json!([seen.observation, seen.log_odds.array()]))
                .collect();
            let line = json!({
                "number": run.recipe.number,
                "kind": format!("{:?}", run.recipe.kind),
                "interval_s": run.recipe.logging.interval_s,
                "temperature_s": run.recipe.logging.temperature_s,
                "t_s": explanation.event.t_s,
                "truth": truth,
                "rows": rows,
            });
            writeln!(out, "{line}")?;
        }
    }
    out.flush()
}

/// What it was: the cause of the episode that began then, "Nothing" where none did, `None` where it cannot be said.
fn truth(run: &Labelled, event: &Event) -> Option<String> {
    let off = |episode: &&Episode| off_s(episode.onset_s, event.t_s);
    let near = run.truth.episodes.iter().filter(|episode| off(episode) <= run.truth.within_s + 1e-6);
    let nearest = near.min_by(|a, b| off(a).total_cmp(&off(b)));
    if let Some(episode) = nearest {
        return episode.cause.map(|cause| format!("{cause:?}"));
    }
    if let Some(episode) =
        run.truth.undecided.iter().find(|episode| off(episode) <= run.truth.within_s + 1e-6)
    {
        return episode.cause.map(|cause| format!("Undecided {cause:?}"));
    }
    let grey = run.truth.grey_s.iter().any(|(from_s, to_s)| (*from_s..=*to_s).contains(&event.t_s));
    // Where heat took nothing, what is too short to be asked for is still not heat.
    (!grey || !run.truth.throttled).then(|| "Nothing".to_owned())
}
