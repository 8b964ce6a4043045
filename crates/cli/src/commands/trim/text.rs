//! What is known about TRIM on a drive, for people: the answer first, then both views side by side.

use drive::trim::proof::{Lost, ProofResult, TrimVerdict};
use drive::trim::{CheckStage, ProvisioningMode, TrimPath};
use measure::Bytes;

use super::document::{CheckJson, TrimDocument, word};
use super::rows;
use crate::table;

/// The whole text.
pub(super) fn for_people(document: &TrimDocument, width: usize) -> String {
    let mut text = heading(document);
    text.push_str(&table::paragraph(answer(document), "", width));
    for reason in &document.reasons {
        text.push_str(&table::paragraph(reason, "- ", width));
    }
    if let Some(change) = &document.changed {
        let now = &change.now;
        text.push_str(&format!(
            "\nprovisioning_mode {}, discard_max_bytes {} (was: {}, {}), read back; until the drive is unplugged.\n",
            now.provisioning_mode,
            now.discard_max_bytes,
            change.before.provisioning_mode,
            change.before.discard_max_bytes
        ));
        if now.provisioning_mode.discards()
            && document.device.as_ref().is_some_and(|one| one.lbpme != Some(true))
        {
            text.push_str(&table::paragraph(
                "Linux 6.12 and later set it back to full when they look at the disk again: a partition table read \
                 again, a rescan, a write to cache_type. `heatsoak trim DRIVE --udev-rule` prints a rule that sets it \
                 at each appearance of the drive. Linux 6.1 leaves it.",
                "",
                width,
            ));
        }
    }
    text.push_str(&views(document, width));
    text.push_str(&layers(document, width));
    if let Some(check) = &document.check {
        text.push_str(&checked(check, document, width));
    }
    text
}

fn heading(document: &TrimDocument) -> String {
    let drive = &document.drive;
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let behind = document.bridge.as_ref().map_or(String::new(), |bridge| {
        let protocol = bridge.protocol.map_or(String::new(), |protocol| format!(", {}", protocol.name()));
        format!(", behind {}{protocol}", bridge.text())
    });
    format!(
        "{}\nserial {}, firmware {}, at {}{behind}\n\n",
        or_unknown(&drive.model),
        or_unknown(&drive.serial),
        or_unknown(&drive.firmware),
        document.address
    )
}

const fn answer(document: &TrimDocument) -> &'static str {
    match document.path {
        TrimPath::Open => "TRIM is sent to the device.",
        TrimPath::OffInKernel => "TRIM does not reach the device: the kernel sends none.",
        TrimPath::TooLong => "TRIM is sent, in commands longer than the device allows.",
        TrimPath::NotOffered => "TRIM does not reach the flash: the device does not offer it.",
        TrimPath::Unknown => "Not known whether TRIM reaches the flash.",
    }
}

/// What the device says beside what the kernel made of it.
fn views(document: &TrimDocument, width: usize) -> String {
    let kernel = &document.kernel;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let flag = |flag: Option<bool>| or_dash(flag.map(|flag| u8::from(flag).to_string()));
    let size = |bytes: Option<u64>| or_dash(bytes.map(|bytes| Bytes::new(bytes).to_string()));
    let device = document.device.as_ref();
    let of = |field: fn(&super::document::DeviceTrim) -> Option<bool>| flag(device.and_then(field));
    let bytes = |field: fn(&super::document::DeviceTrim) -> Option<u64>| size(device.and_then(field));
    let commands = device.map(|device| {
        let named =
            [(device.lbpu, "UNMAP"), (device.lbpws, "WRITE SAME (16)"), (device.lbpws10, "WRITE SAME (10)")];
        let named: Vec<&str> =
            named.into_iter().filter(|(has, _)| *has == Some(true)).map(|(_, name)| name).collect();
        if named.is_empty() { "none".to_owned() } else { named.join(", ") }
    });
    let row = |name: &str, device: String, kernel: String| [name.to_owned(), device, kernel];
    let table = [
        row("", "DEVICE SAYS".to_owned(), "KERNEL HAS".to_owned()),
        row("deallocates (LBPME)", of(|one| one.lbpme), flag(kernel.thin_provisioning)),
        row(
            "by",
            or_dash(commands),
            or_dash(kernel.provisioning_mode.map(ProvisioningMode::word).map(str::to_owned)),
        ),
        row("most in one command", bytes(|one| one.unmap_max_bytes), size(kernel.discard_max_bytes)),
        row("unit", bytes(|one| one.granularity_bytes), size(kernel.discard_granularity_bytes)),
        row("reads zeroes after (LBPRZ)", of(|one| one.lbprz), "-".to_owned()),
    ];
    format!("\n{}", table::fitted(&table, width))
}

fn layers(document: &TrimDocument, width: usize) -> String {
    if document.layers.is_empty() {
        return String::new();
    }
    let mut lines = vec![["ON IT", "WHAT", "PASSES TRIM", "MOUNTED"].map(str::to_owned)];
    for layer in &document.layers {
        let passes = match layer.passes {
            Some(true) => "yes",
            Some(false) => "no",
            None => "as its disk",
        };
        let mount = |mount: &drive::trim::layers::TrimMount| {
            let how = if mount.discards { "discard" } else { "fstrim only" };
            format!("{} ({}, {how})", mount.point, mount.file_system)
        };
        let mounts: Vec<String> = layer.mounts.iter().map(mount).collect();
        let mounts = if mounts.is_empty() { "-".to_owned() } else { mounts.join(", ") };
        let label = layer.label.as_ref().map_or(String::new(), |label| format!(" {label}"));
        let name = format!("{}{}{label}", "  ".repeat(layer.depth.saturating_sub(1)), layer.name);
        lines.push([name, layer.what.to_owned(), passes.to_owned(), mounts]);
    }
    format!("\n{}", table::fitted(&lines, width))
}

/// What a check has found.
fn checked(check: &CheckJson, document: &TrimDocument, width: usize) -> String {
    let mut text = format!("\nCheck: {}\n", word(&check.verdict));
    text.push_str(&table::paragraph(&verdict(check), "", width));
    if let Some(lost) = &check.result.lost {
        text.push_str(&lost_blocks(lost, width));
    }
    let refused: Vec<&str> = refused(&check.result).collect();
    if !refused.is_empty() && check.verdict != TrimVerdict::Refused {
        text.push_str(&table::paragraph(
            &format!("refused, though within the device's own limits: {}", refused.join("; ")),
            "- ",
            width,
        ));
    }
    for note in &check.result.notes {
        text.push_str(&table::paragraph(note, "- ", width));
    }
    if check.stage == CheckStage::AwaitsPowerCycle {
        let serial = document.drive.serial.as_deref().unwrap_or("no-serial");
        text.push_str(&table::paragraph(
            &format!(
                "Half done: what a drive still has in its memory hides late errors. Unplug it for 10 s, plug it in again, \
                 then: heatsoak trim {} --prove --resume --destroy {serial}",
                document.address
            ),
            "",
            width,
        ));
    }
    text
}

fn refused(result: &ProofResult) -> impl Iterator<Item = &str> {
    result
        .cases
        .iter()
        .filter(|case| case.within_limits && case.refused.is_some())
        .map(|case| case.name.as_str())
}

fn verdict(check: &CheckJson) -> String {
    let result = &check.result;
    let cases = result.cases.len();
    let unmapped = &result.unmapped;
    let seen = format!(
        "unmapped sectors read as zeroes {} times, as before {}, as something else {}",
        unmapped.zeroes, unmapped.old, unmapped.other
    );
    match check.verdict {
        TrimVerdict::SafeActs => {
            format!("{cases} UNMAP commands, and every block beside them is as it was written; {seen}.")
        }
        TrimVerdict::SafeNoEffect => format!(
            "{cases} UNMAP commands, and every block is as it was written, the unmapped ones too: harmless; whether the \
             drive notes them is not seen from outside."
        ),
        TrimVerdict::Refused => {
            let why = result.cases.iter().find_map(|case| case.refused.as_deref()).unwrap_or("not told");
            format!("every UNMAP was refused: {why}.")
        }
        TrimVerdict::EatsNeighbours => {
            let when = result.lost.as_ref().map_or("", |lost| lost.when.as_str());
            format!("blocks that were not unmapped are lost ({when}). Do not use TRIM on this drive in this enclosure.")
        }
        TrimVerdict::Hangs => {
            format!("{}. Do not use TRIM here.", result.hung.as_deref().unwrap_or("a command did not come back"))
        }
        TrimVerdict::Unstable => {
            "written blocks read differently from one time to the next. Do not use TRIM here, and do not trust this drive."
                .to_owned()
        }
        TrimVerdict::LosesData => {
            "blocks are not what was written, before anything was unmapped: a fake capacity, or a broken drive or bridge."
                .to_owned()
        }
    }
}

fn lost_blocks(lost: &Lost, width: usize) -> String {
    let mut lines = vec![["BLOCK".to_owned(), "FROM THE NEAREST UNMAPPED, HOLDS".to_owned()]];
    for block in &lost.first {
        let from = block.from_unmapped.map_or(String::new(), |distance| format!("{distance:+}, "));
        lines.push([block.lba.to_string(), format!("{from}{}", block.holds)]);
    }
    let more = lost.count.saturating_sub(lost.first.len() as u64);
    let more = if more > 0 { format!("and {more} more in the same stretch\n") } else { String::new() };
    format!("{}{more}", rows(&lines, width))
}
