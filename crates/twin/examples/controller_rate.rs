//! Prints how many commands a second the controller takes and answers, without any transport.
//!
//! `cargo run --release -p heatsoak-twin --example controller_rate`
#![expect(clippy::print_stdout, reason = "printing is its purpose")]

use measure::{Clock as _, Instant, Lba, MonotonicClock, Seed};
use nvme::command::{IoCommand, Sgl, Sqe, Transfer};
use nvme::fabrics::property::Property;
use nvme::fabrics::{Connect, ConnectData, FabricsCommand};
use physics::Profile;
use twin::controller::{Accepted, ConnectRequest, HostEvent, Options, Queue, Service, Subsystem};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, len, write) in [
        ("4 KiB reads", 4096, false),
        ("4 KiB writes in capsules", 4096, true),
        ("1 MiB reads", 1 << 20, false),
    ] {
        let mut subsystem = Subsystem::new(Options::new(Profile::builtin("ssd1")?, Seed::new(1)))?;
        let queue = connect(&mut subsystem)?;
        run(name, &mut subsystem, queue, len, write);
    }
    Ok(())
}

/// An enabled controller and its I/O queue.
fn connect(subsystem: &mut Subsystem) -> Result<Queue, String> {
    let mut request = ConnectRequest {
        cid: 0,
        command: Connect {
            record_format: 0,
            queue_id: 0,
            queue_entries: 32,
            attributes: 0,
            keep_alive_ms: 0,
        },
        data: ConnectData {
            host_id: [1; 16],
            controller_id: 0xffff,
            subsystem_nqn: subsystem.nqn().to_owned(),
            host_nqn: "nqn.2014-08.org.nvmexpress:uuid:0".to_owned(),
        },
    };
    let refused = |refused: nvme::command::Completion| refused.status.to_string();
    let admin = subsystem.connect(Instant::ZERO, &request).map_err(refused)?.queue;
    let enable = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: 0x0046_0001 };
    let Accepted::Done(_) = subsystem.submit(Instant::ZERO, admin, &enable.encode(), &[]) else {
        return Err("the controller cannot be enabled".to_owned());
    };
    (request.command.queue_id, request.command.queue_entries) = (1, 128);
    request.data.controller_id = admin.controller_id();
    Ok(subsystem.connect(Instant::ZERO, &request).map_err(refused)?.queue)
}

fn run(name: &str, subsystem: &mut Subsystem, queue: Queue, len: u32, write: bool) {
    const COUNT: u64 = 1_000_000;
    const DEPTH: u64 = 32;
    let data = vec![1; len as usize];
    let command = |n: u64| -> Sqe {
        // 64 MiB: what is measured is the controller, not the kernel's handing out of memory.
        let place = n.wrapping_mul(6_364_136_223_846_793_005) >> 50;
        let range = Transfer { start: Lba::new(place * 8), blocks: len / 512, fua: false };
        let command = if write { IoCommand::Write(range) } else { IoCommand::Read(range) };
        let sgl = match write {
            true => Sgl::InCapsule { offset: 0, length: len },
            false => Sgl::Transport { length: len },
        };
        Sqe { cid: n as u16, ..command.encode(1).with_sgl(sgl) }
    };
    let inside: &[u8] = if write { &data } else { &[] };
    let (mut now, mut sent, mut done) = (Instant::ZERO, 0_u64, 0_u64);
    let mut out = Vec::new();
    let clock = MonotonicClock::start();
    while done < COUNT {
        while sent < done + DEPTH {
            let _ = subsystem.submit(now, queue, &command(sent), inside);
            sent += 1;
        }
        now = subsystem.next_event().unwrap_or(now).max(now);
        out.clear();
        subsystem.advance(now, &mut out);
        done += out.iter().filter(|outcome| matches!(outcome, HostEvent::Reply(..))).count() as u64;
    }
    let wall_s = clock.now().as_secs_f64();
    println!(
        "{name}: {:.2} million commands/s, {:.1} s simulated in {wall_s:.2} s",
        COUNT as f64 / wall_s / 1e6,
        now.as_secs_f64(),
    );
}
