//! Which parts of a long watch are closed, and which are deleted: by age and by size, the oldest first.

use std::time::Duration;

/// A watch is closed into so many parts over the time that is kept: what is deleted at once is a small share of it.
const PARTS: u32 = 24;
/// And no part is shorter or longer than these.
const PART_MIN: Duration = Duration::from_secs(60);
const PART_MAX: Duration = Duration::from_secs(24 * 3600);

/// How much of a watch is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepRule {
    /// No part that ended longer ago.
    pub keep: Duration,
    /// No more bytes in all closed parts.
    pub bytes_max: u64,
}

/// A closed part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedPart {
    /// Its folder's name.
    pub name: String,
    /// How long ago it ended.
    pub age: Duration,
    /// Its size.
    pub bytes: u64,
}

impl KeepRule {
    /// How long a part is.
    pub fn part(&self) -> Duration {
        (self.keep / PARTS).clamp(PART_MIN, PART_MAX)
    }

    /// Those to delete, the oldest first.
    pub fn to_delete(&self, parts: &[ClosedPart]) -> Vec<String> {
        let mut parts: Vec<&ClosedPart> = parts.iter().collect();
        parts.sort_by(|a, b| b.age.cmp(&a.age).then_with(|| a.name.cmp(&b.name)));
        let mut bytes = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
        let mut delete = Vec::new();
        for part in parts {
            if part.age <= self.keep && bytes <= self.bytes_max {
                break;
            }
            bytes = bytes.saturating_sub(part.bytes);
            delete.push(part.name.clone());
        }
        delete
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn part(name: &str, hours: u64, bytes: u64) -> ClosedPart {
        ClosedPart { name: name.to_owned(), age: Duration::from_secs(hours * 3600), bytes }
    }

    #[test]
    fn the_oldest_go_by_age_and_by_size() {
        let rule = KeepRule { keep: Duration::from_secs(24 * 3600), bytes_max: 100 };
        assert_eq!(rule.part(), Duration::from_secs(3600));
        let parts = [part("b", 3, 60), part("old", 25, 1), part("a", 5, 60), part("c", 1, 30)];
        assert_eq!(rule.to_delete(&parts), ["old", "a"]);
        assert_eq!(rule.to_delete(&[part("c", 1, 30)]), [] as [String; 0]);
        assert_eq!(rule.to_delete(&[part("huge", 1, 1000)]), ["huge"]);
        let short = KeepRule { keep: Duration::from_secs(60), ..rule };
        assert_eq!(short.part(), Duration::from_secs(60));
    }
}
