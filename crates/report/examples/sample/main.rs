//! Prints a report of an invented run, to look at what this crate makes:
//! `cargo run -p heatsoak-report --example sample [vendor|relay|mixed] [html|svg|terminal|ascii|colour|compare|compare-terminal] > x.html`.

mod scene;

use std::io::Write;

fn main() -> std::io::Result<()> {
    let argument = |index| std::env::args().nth(index).unwrap_or_default();
    let run = match argument(1).as_str() {
        "relay" => scene::relay(),
        "mixed" => scene::mixed(),
        _ => scene::vendor(),
    };
    let text = match argument(2).as_str() {
        "compare" => report::compare_html(&scene::sweep(), &[]),
        "compare-terminal" => report::compare_terminal(
            &scene::sweep(),
            &[],
            &report::TerminalStyle { width: 120, ascii: false, colour: false, run_folder: None },
        ),
        "svg" => report::svg(&run),
        name @ ("terminal" | "ascii" | "colour") => {
            let style = report::TerminalStyle {
                width: 100,
                ascii: name == "ascii",
                colour: name == "colour",
                run_folder: Some("runs/sample".into()),
            };
            report::terminal(&run, &style)
        }
        _ => report::html(&run),
    };
    std::io::stdout().write_all(text.as_bytes())
}
