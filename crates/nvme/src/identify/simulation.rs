//! What a virtual SSD of heatsoak says about its clock, in the vendor specific bytes of Identify Controller.
//!
//! A drive that lives faster than its host shows all spans too short and all bytes too few. Nothing but the two
//! ratios is told: what the drive is like stays to be found out. Other makers' bytes are theirs, so it is read from
//! subsystems under our own name alone.

/// How a virtual SSD's time and data relate to its host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// Simulated seconds in one of the host's, at least 1.
    pub time_scale: u32,
    /// Simulated bytes for one of the host's, at least 1.
    pub bandwidth_scale: u32,
}

impl Simulation {
    /// As the host's.
    pub const REAL: Self = Self { time_scale: 1, bandwidth_scale: 1 };
}

/// Marks the bytes as ours; behind it stand the two numbers, little-endian.
const MARK: [u8; 8] = *b"heatsoak";

impl Simulation {
    /// Reads the beginning of the vendor specific area; `None` where nothing of ours stands there.
    pub(super) fn decode(vendor: &[u8]) -> Option<Self> {
        let (mark, rest) = vendor.split_first_chunk()?;
        let (time, rest) = rest.split_first_chunk()?;
        let (bandwidth, _) = rest.split_first_chunk()?;
        let scales =
            Self { time_scale: u32::from_le_bytes(*time), bandwidth_scale: u32::from_le_bytes(*bandwidth) };
        (*mark == MARK && scales.time_scale > 0 && scales.bandwidth_scale > 0).then_some(scales)
    }

    /// Writes it to the beginning of the vendor specific area.
    pub(super) fn put(self, vendor: &mut [u8]) {
        let bytes =
            MARK.into_iter().chain(self.time_scale.to_le_bytes()).chain(self.bandwidth_scale.to_le_bytes());
        vendor.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn it_stands_behind_its_mark_and_zeros_are_none() {
        let scales = Simulation { time_scale: 20, bandwidth_scale: 1200 };
        let mut vendor = [0xff; 32];
        scales.put(&mut vendor);
        assert_eq!(vendor[..16], *b"heatsoak\x14\0\0\0\xb0\x04\0\0");
        assert_eq!(vendor[16..], [0xff; 16]);
        assert_eq!(Simulation::decode(&vendor), Some(scales));
        vendor[8] = 0;
        assert_eq!(Simulation::decode(&vendor), None, "time does not stand still");
        assert_eq!(Simulation::decode(&[0; 1024]), None);
        assert_eq!(Simulation::decode(b"heatsoak"), None);
    }
}
