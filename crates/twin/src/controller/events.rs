//! Asynchronous events of one controller: what is to be told, who waits for it, what was told.
//!
//! NVMe Base 2.3, Asynchronous Event Request: an event of a type is told once; further ones of the
//! type wait until the host has read its log page. One-shot events have none: whoever wants another
//! asks for it.

use std::collections::{BTreeSet, VecDeque};

use nvme::feature::session::AsyncEvent;
use nvme::log::LogId;

use super::command::CommandKey;

/// Event requests that may wait at once; Linux keeps one.
pub(super) const EVENT_REQUESTS_MAX: u16 = 4;

/// The events of one controller.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Feature 0Bh.
    pub(super) config: u32,
    waiting: VecDeque<CommandKey>,
    /// To be told. One of a kind, so bounded by the kinds there are.
    pending: VecDeque<AsyncEvent>,
    /// Types told and not yet cleared, with the page that clears each.
    masked: BTreeSet<(u8, u8)>,
    /// Whether the namespace changed since the host last asked which did (log page 04h).
    pub(super) namespace_changed: bool,
    /// Critical warnings told while they last.
    pub(super) told_warnings: u8,
}

impl Events {
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn wait(&mut self, key: CommandKey) {
        self.waiting.push_back(key);
    }

    /// A request no longer waits: it was aborted.
    pub(super) fn forget(&mut self, key: CommandKey) {
        self.waiting.retain(|other| *other != key);
    }

    /// Something is to be told.
    pub(super) fn raise(&mut self, event: AsyncEvent) {
        if !self.pending.contains(&event) {
            self.pending.push_back(event);
        }
    }

    /// The next request that can be answered, and with what.
    pub(super) fn tell(&mut self) -> Option<(CommandKey, AsyncEvent)> {
        if self.waiting.is_empty() {
            return None;
        }
        let masked = |event: &AsyncEvent| self.masked.iter().any(|(kind, _)| *kind == event.kind);
        let index = self.pending.iter().position(|event| !masked(event))?;
        let event = self.pending.remove(index)?;
        if event.kind != AsyncEvent::ONE_SHOT {
            self.masked.insert((event.kind, event.lid));
        }
        Some((self.waiting.pop_front()?, event))
    }

    /// The host has read a page: events that pointed to it may come again.
    pub(super) fn log_was_read(&mut self, lid: LogId) {
        self.masked.retain(|(_, page)| *page != lid.0);
    }
}
