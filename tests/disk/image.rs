//! What a disk may hold after the power was cut between two photographs.
//!
//! What the log held at the first photograph was synced by then, or was on its way: it stays. Of
//! what differs at the second, the disk may have anything, by sectors, and even a part of one.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::shot::{LOG, PROGRESS, Shot};
use crate::replay::Random;

/// What a disk writes as a whole, or so it is said.
const SECTOR: usize = 512;

/// What became of what was written after the last sync.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Cut {
    /// Nothing of it is there.
    Dropped,
    /// It is there up to some byte.
    At,
    /// Any of its sectors are there.
    Scattered,
    /// As scattered, and one sector is there in part.
    Torn,
    /// The file has grown, and its new sectors are zeros, but for some.
    Zeroed,
    /// All of it is there, but for one stretch.
    Hole,
}

impl Cut {
    pub(crate) const ALL: [Self; 6] =
        [Self::Dropped, Self::At, Self::Scattered, Self::Torn, Self::Zeroed, Self::Hole];
}

/// Files as a disk may hold them.
pub(crate) struct Image(Shot);

impl Image {
    /// Returns what may be there when the power was cut after one photograph and before the next.
    pub(crate) fn between(last: &Shot, next: &Shot, cut: Cut, random: &mut Random) -> Self {
        let mut image = last.clone();
        image.files.insert(LOG.into(), log(last.log(), next.log(), cut, random));
        if cut == Cut::Torn {
            tear_progress(&mut image, next);
        }
        Self(image)
    }

    /// Returns what may be there when the power was cut while a store was opened that was killed.
    /// What was found is synced first; sled then syncs a snapshot of it, and mends the log.
    pub(crate) fn while_opening(
        found: &Shot,
        opened: &Shot,
        cut: Cut,
        random: &mut Random,
    ) -> Self {
        let Self(mut image) = Self::between(found, opened, cut, random);
        let is_snapshot = |path: &Path| path.to_string_lossy().contains("snap.");
        if random.percent(70) {
            let snapshots = opened.files.iter().filter(|(path, _)| is_snapshot(path));
            image.files.extend(snapshots.map(|(path, bytes)| (path.clone(), bytes.clone())));
        }
        Self(image)
    }

    /// Returns what a disk may hold that did not keep what it said was synced.
    pub(crate) fn of_a_liar(shot: &Shot, random: &mut Random) -> Self {
        let mut image = shot.clone();
        let log = image.files.get_mut(Path::new(LOG)).unwrap();
        let used = used(log);
        let at = random.index(used.max(1));
        let length = random.index(3 * SECTOR).min(log.len() - at);
        match random.below(3) {
            0 => log.truncate(at),
            1 => log[at..at + length].fill(0),
            _ => log[at..at + length].iter_mut().for_each(|byte| *byte ^= 0x5A),
        }
        Self(image)
    }

    pub(crate) fn lay_down(&self) -> tempfile::TempDir {
        self.0.lay_down()
    }
}

/// Returns how far a log has bytes that are not zero.
fn used(log: &[u8]) -> usize {
    log.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// Makes the log of an image.
fn log(last: &[u8], next: &[u8], cut: Cut, random: &mut Random) -> Vec<u8> {
    let changed = changed(last, next);
    let bytes = |image: &mut Vec<u8>, range: Range<usize>| {
        let end = range.end.min(next.len());
        if range.start >= end {
            return;
        }
        if image.len() < end {
            image.resize(end, 0);
        }
        image[range.start..end].copy_from_slice(&next[range.start..end]);
    };
    let mut image = last.to_vec();
    let Some(after) = changed.last().map(|sector| sector.end) else { return image };
    match cut {
        Cut::Dropped => {}
        Cut::At => {
            let stop = changed[0].start + random.index(after - changed[0].start);
            for sector in changed {
                bytes(&mut image, sector.start.min(stop)..sector.end.min(stop));
            }
        }
        Cut::Scattered | Cut::Torn => {
            let share = random.below(101);
            let torn = random.index(changed.len());
            for (at, sector) in changed.into_iter().enumerate() {
                if cut == Cut::Torn && at == torn {
                    let start = sector.start + random.index(SECTOR);
                    bytes(&mut image, start..sector.end);
                } else if random.percent(share) {
                    bytes(&mut image, sector);
                }
            }
        }
        Cut::Zeroed => {
            let share = random.below(101);
            image.resize(image.len().max(next.len()), 0);
            for sector in changed {
                if random.percent(share) {
                    bytes(&mut image, sector);
                }
            }
        }
        Cut::Hole => {
            let hole = random.index(changed.len());
            let end = hole + 1 + random.index(changed.len() - hole);
            for (at, sector) in changed.into_iter().enumerate() {
                if !(hole..end).contains(&at) {
                    bytes(&mut image, sector);
                }
            }
        }
    }
    image
}

/// Returns the sectors in which two logs differ.
fn changed(last: &[u8], next: &[u8]) -> Vec<Range<usize>> {
    let longest = last.len().max(next.len());
    let sectors = (0..longest).step_by(SECTOR).map(|start| start..start + SECTOR);
    let part = |log: &[u8], sector: &Range<usize>| {
        log.get(sector.start..sector.end.min(log.len())).map(<[u8]>::to_vec)
    };
    sectors.filter(|sector| part(last, sector) != part(next, sector)).collect()
}

/// Leaves a slot of the progress half written; the other counts.
fn tear_progress(image: &mut Shot, next: &Shot) {
    let path = PathBuf::from(PROGRESS);
    let written = &next.files[&path];
    let slots = image.files.get_mut(&path).unwrap();
    for start in [0, 4096] {
        let slot = start..start + 8;
        if slots.get(slot.clone()) != written.get(slot.clone()) && written.len() >= slot.end {
            slots.resize(slots.len().max(slot.end), 0);
            slots[slot.clone()].copy_from_slice(&written[slot]);
            return;
        }
    }
}
