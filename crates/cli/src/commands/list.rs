//! `heatsoak list`: the drives of this machine, how each can be opened, and what writing takes.

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Exit;
use crate::args::ListArgs;
use crate::block_devices::{self, BlockDevice, Roots};
use crate::commands::documents::JsonDocument as _;
use crate::open_settings::warn_of_interrupted_runs;
use crate::printer::Printer;
use crate::table;

/// What writing takes, for people and scripts.
const WRITE_NEEDS: &str = "writes and trims need `--destroy SERIAL`; they are refused while the drive is in use, and data on it need \
     `--even-if`";

/// The other forms of an address, with what they are.
const ADDRESSES: [(&str, &str); 6] = [
    ("twin:NAME", "a built-in simulated drive, in virtual time; `heatsoak profiles` shows them"),
    ("twin:PROFILE.toml", "a simulated drive of your own"),
    ("file:PATH?size=4GiB", "a file on a file system; reads and writes"),
    ("/dev/disk/by-id/...", "a drive by a name that stays the same"),
    (
        "nvme-tcp://HOST:PORT/NQN",
        "an NVMe/TCP subsystem: a virtual SSD (`heatsoak vssd`) whole, others for reading",
    ),
    ("null:", "completes at once: the tool's own floor"),
];

/// The JSON of `heatsoak list --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// Version of this format.
    schema: u32,
    /// The drives of this machine.
    drives: Vec<ListedDrive>,
    /// Other forms of an address.
    addresses: Vec<ListedAddress>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ListedDrive {
    #[serde(flatten)]
    device: BlockDevice,
    /// How I/O gets to it.
    io: &'static str,
    /// What may be done to it as it is.
    allowed: [&'static str; 1],
    /// What is refused as it is.
    refused: [Refusal; 1],
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Refusal {
    /// What is refused.
    what: &'static str,
    /// Why, and what would allow it.
    why: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ListedAddress {
    /// How it is typed.
    form: &'static str,
    /// What it names.
    what: &'static str,
}

/// Lists.
pub(crate) fn execute(args: &ListArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    warn_of_interrupted_runs(printer);
    let listing = listing(&Roots::system())?;
    if args.json {
        printer.json(&listing)?;
    } else {
        printer.data(&for_people(&listing, printer.data_width()))?;
    }
    Ok(Exit::Done)
}

fn listing(roots: &Roots) -> anyhow::Result<Listing> {
    let devices = block_devices::all(roots)
        .with_context(|| format!("cannot list the drives in {}", roots.sys.join("block").display()))?;
    let addresses = ADDRESSES.map(|(form, what)| ListedAddress { form, what });
    Ok(Listing {
        schema: Listing::SCHEMA,
        drives: devices.into_iter().map(entry).collect(),
        addresses: addresses.into(),
    })
}

fn entry(device: BlockDevice) -> ListedDrive {
    ListedDrive {
        io: "io_uring on the block device",
        allowed: ["read"],
        refused: [Refusal { what: "write", why: WRITE_NEEDS }],
        device,
    }
}

fn for_people(listing: &Listing, width: usize) -> String {
    let mut text = String::new();
    if listing.drives.is_empty() {
        text.push_str("No drives found in /sys/block.\n");
    } else {
        let heading =
            ["DRIVE", "MODEL", "SERIAL", "SIZE", "KIND", "TEMPERATURE", "IN USE"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(heading).chain(listing.drives.iter().map(row)).collect();
        text.push_str(&table::fitted(&rows, width));
        let rule = format!("Reads need permission on the device (io_uring). {}.", capital(WRITE_NEEDS));
        text.push_str(&format!("\n{}", table::paragraph(&rule, "", width)));
    }
    text.push_str("\nOther addresses for --drive:\n");
    let heading = ["  ADDRESS", "WHAT IT IS"].map(str::to_owned);
    let rows =
        listing.addresses.iter().map(|address| [format!("  {}", address.form), address.what.to_owned()]);
    text.push_str(&table::fitted(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), width));
    text
}

fn row(entry: &ListedDrive) -> [String; 7] {
    let device = &entry.device;
    let or_dash = |list: &[String]| if list.is_empty() { "-".to_owned() } else { list.join(", ") };
    [
        device.address.clone(),
        device.identity.model.clone().unwrap_or_else(|| "-".to_owned()),
        device.identity.serial.clone().unwrap_or_else(|| "-".to_owned()),
        device.identity.size().to_string(),
        match &device.bridge {
            Some(bridge) => format!("usb: {bridge}"),
            None => device.identity.kind.name().to_owned(),
        },
        or_dash(&device.temperature),
        or_dash(&device.in_use),
    ]
}

/// The sentence with a capital letter.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
