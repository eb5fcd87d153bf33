//! `[durable]`: how the door for public streams is to be.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::section::Section;

/// How the door for public streams is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durable {
    /// Whether who comes without a credential has a space, too: one that all such share.
    pub open: bool,
    /// Whether that holds for a host that other machines than its own reach.
    pub open_to_all: bool,
    /// Bytes of one append.
    pub append: usize,
    /// Bytes of one answer, about.
    pub page: u32,
    /// How long a reader waits that asks by long poll.
    pub long_poll: Duration,
    /// Readers that wait at once.
    pub readers: usize,
}

impl Durable {
    /// The most bytes of one append: what one call of the runtime takes, with room for the rest.
    const MOST: u64 = (4 << 20) - (64 << 10);

    /// Tells whether streams may be served on an address as they are.
    #[must_use]
    pub fn may_listen_on(&self, address: IpAddr) -> bool {
        !self.open || self.open_to_all || address.is_loopback()
    }
}

impl Default for Durable {
    fn default() -> Self {
        Self {
            open: false,
            open_to_all: false,
            append: 1 << 20,
            page: 1 << 20,
            long_poll: Duration::from_secs(30),
            readers: 10_000,
        }
    }
}

pub(super) fn read(mut section: Section<'_>, address: Option<SocketAddr>) -> Durable {
    let mut durable = Durable::default();
    let open = section.take("open");
    if let Some(open) = open.as_ref().and_then(|it| it.boolean()) {
        durable.open = open;
    }
    if let Some(all) = section.take("open_to_all").and_then(|it| it.boolean()) {
        durable.open_to_all = all;
    }
    if let (Some(item), Some(address)) = (&open, address)
        && !durable.may_listen_on(address.ip())
    {
        item.refuse(
            "anybody who reaches the address may write then: listen on 127.0.0.1, or say \
             `open_to_all = true`",
        );
    }
    let append = section.take("append_bytes").and_then(|it| it.number(1024..=Durable::MOST));
    if let Some(bytes) = append.and_then(|it| usize::try_from(it).ok()) {
        durable.append = bytes;
    }
    let page = section.take("page_bytes").and_then(|it| it.number(1024..=2 << 20));
    if let Some(bytes) = page.and_then(|it| u32::try_from(it).ok()) {
        durable.page = bytes;
    }
    if let Some(seconds) = section.take("long_poll_secs").and_then(|it| it.number(1..=300)) {
        durable.long_poll = Duration::from_secs(seconds);
    }
    let readers = section.take("readers").and_then(|it| it.number(1..=1 << 20));
    if let Some(readers) = readers.and_then(|it| usize::try_from(it).ok()) {
        durable.readers = readers;
    }
    section.end();
    durable
}
