//! Runs a plan on a real target without the command line, and prints the speed of each phase.
//! `cargo run --release -p heatsoak-capture --example run_plan -- PLAN ADDRESS OUT`
//!
//! `bench/beside_fio.py` compares the whole tool with fio; this is the instrument alone.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use capture::session::{Session, draft_manifest};
use drive::system::{Address, Target};
use measure::record::{self, Origin, RunWriter};
use plan::{Plan, check};

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plan, address, out] = &arguments[..] else { return Err("usage: run_plan PLAN ADDRESS OUT".into()) };
    let plan = Plan::load(plan)?;
    let address = Address::parse(address)?;
    let target = Target::look(&address)?;
    check::check(&plan, &target.facts())?;
    let prepared = target.prepare(&plan, &mut |_, _| ControlFlow::Continue(()))?;
    let manifest = draft_manifest(&plan, &address.to_string(), Origin::Device, target.drive().clone());
    let writer = RunWriter::create(Path::new(out), manifest, plan.record_ops)?;
    let mut observer = ();
    let outcome = Session::new(&plan, writer, &mut observer).run(target, prepared)?;
    print(&record::read(&outcome.folder)?)
}

fn print(run: &record::Record) -> Result<(), Error> {
    let mut out = std::io::stdout();
    for (index, phase) in run.manifest.phases.iter().enumerate() {
        let rows = run.io.iter().filter(|row| row.phase as usize == index);
        let (bytes, ios) = rows.fold((0, 0), |sum, row| (sum.0 + row.bytes.as_u64(), sum.1 + row.ios));
        let seconds = phase.end_ns.zip(phase.start_ns).map_or(0.0, |(end, start)| (end - start) as f64 / 1e9);
        let (speed, rate) = (bytes as f64 / seconds / 1e6, ios as f64 / seconds);
        writeln!(out, "{:10} {speed:9.1} MB/s {rate:9.0} I/O/s over {seconds:.2} s", phase.name)?;
    }
    for note in &run.manifest.notes {
        writeln!(out, "note: {note}")?;
    }
    writeln!(out, "end: {:?}", run.manifest.end)?;
    Ok(())
}
