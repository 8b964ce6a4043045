//! `heatsoak govern`: keeps a drive below a temperature by shaping the load on it.
//!
//! The law is `govern`'s. [`own`] shapes a load of ours, which a session makes; [`others`] what others ask of a block
//! device, through the kernel's control groups.

mod command;
mod document;
mod groups;
mod others;
mod own;
pub(crate) mod shape;

use anyhow::bail;
use drive::{Address, AddressKind};
use govern::Bounds;

pub(crate) use document::GovernDocument;

use crate::Exit;
use crate::args::GovernArgs;
use crate::printer::Printer;

/// Governs.
pub(crate) fn execute(args: GovernArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let bounds = Bounds { below: args.below, at_least: args.at_least };
    if !(1e5..=1e12).contains(&bounds.at_least.as_f64()) {
        bail!("--at-least {} is no rate to leave a load: name 100kB/s or more", bounds.at_least);
    }
    let address = Address::parse(&args.drive)?;
    let is_device = matches!(address.kind(), AddressKind::Device { .. });
    if args.plan.is_none() && is_device {
        return others::execute(&args, bounds, &address, printer);
    }
    let of_others = [
        ("--cgroup", !args.cgroup.is_empty()),
        ("--for", args.span.is_some()),
        ("COMMAND", !args.command.is_empty()),
    ];
    if let Some((name, _)) = of_others.into_iter().find(|(_, is_typed)| *is_typed) {
        bail!(
            "{name} is for the load of others on a block device, such as /dev/nvme0n1; {address} is governed under a load of ours"
        );
    }
    own::execute(args, bounds, printer)
}
