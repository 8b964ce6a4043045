//! Which temperature sensor the analysis goes by.
//!
//! The thresholds of NVMe are compared with the composite temperature (NVMe Base 2.3, 5.1.25.1.4), so the
//! composite is first choice. It loses its place only when it stands still while another sensor moves:
//! composites stuck at one value under load are known (nvme-cli issue 3945).

use super::{Temperature, Trace};

/// A composite counts as stuck when another sensor moved by at least this while it did not move at all.
/// Twice the 2 K by which two whole-kelvin sensors of one drive can differ by rounding alone.
pub const STUCK_WHILE_OTHERS_MOVED_K: f64 = 4.0;

/// The sensor that the analysis goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedSensor {
    /// Index into the trace's temperatures.
    pub index: usize,
    /// Why this one, as a sentence.
    pub why: String,
}

impl Trace {
    /// Chooses the sensor to go by: composite, else hwmon, else the one that moves most; a sensor that stands
    /// still while another moves is passed over.
    pub fn trust_a_sensor(&mut self) {
        let ranges: Vec<f64> = self.temperatures.iter().map(range_k).collect();
        let widest = ranges.iter().copied().fold(0.0, f64::max);
        let stuck = |index: usize| ranges[index] == 0.0 && widest >= STUCK_WHILE_OTHERS_MOVED_K;
        let usable: Vec<usize> = (0..self.temperatures.len())
            .filter(|i| !self.temperatures[*i].kelvin.points().is_empty() && !stuck(*i))
            .collect();
        let first = |names: &[&str]| {
            usable.iter().copied().find(|i| names.contains(&self.temperatures[*i].name.as_str()))
        };
        let chosen = match first(&["composite"]).or_else(|| first(&["hwmon", "temp"])) {
            Some(index) => Some((index, "it is what the drive's thresholds are compared with")),
            None => usable
                .iter()
                .copied()
                .max_by(|a, b| ranges[*a].total_cmp(&ranges[*b]).then(b.cmp(a)))
                .map(|index| (index, "of the sensors that there are, it moves most")),
        };
        self.trusted = chosen.map(|(index, why)| TrustedSensor { index, why: why.to_owned() });
    }

    /// Names of sensors that stood still while another moved by more than a reading's rounding.
    pub fn stuck_sensors(&self) -> Vec<&str> {
        let widest = self.temperatures.iter().map(range_k).fold(0.0, f64::max);
        self.temperatures
            .iter()
            .filter(|t| {
                widest >= STUCK_WHILE_OTHERS_MOVED_K && t.kelvin.points().len() > 1 && range_k(t) == 0.0
            })
            .map(|t| t.name.as_str())
            .collect()
    }
}

fn range_k(temperature: &Temperature) -> f64 {
    let values = temperature.kelvin.points().iter().map(|point| point.value);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    (high - low).max(0.0)
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::instant;
    use measure::Series;

    fn sensor(name: &str, values: &[f64]) -> Temperature {
        let mut kelvin = Series::new();
        for (i, value) in values.iter().enumerate() {
            kelvin.push(instant(i as f64), *value);
        }
        Temperature { name: name.into(), kelvin }
    }

    fn trusted(temperatures: Vec<Temperature>) -> String {
        let mut trace = Trace { temperatures, ..Trace::empty("test") };
        trace.trust_a_sensor();
        let index = trace.trusted.expect("there are readings").index;
        trace.temperatures[index].name.clone()
    }

    #[test]
    fn the_composite_is_trusted_unless_it_is_stuck() {
        let moving = sensor("sensor1", &[313.0, 320.0, 330.0]);
        assert_eq!(trusted(vec![sensor("composite", &[313.0, 314.0, 315.0]), moving.clone()]), "composite");
        assert_eq!(trusted(vec![sensor("composite", &[313.0; 3]), moving.clone()]), "sensor1");
        let still = sensor("sensor1", &[313.0, 314.0, 313.0]);
        assert_eq!(trusted(vec![sensor("composite", &[313.0; 3]), still]), "composite");
        assert_eq!(trusted(vec![moving, sensor("hwmon", &[313.0, 314.0])]), "hwmon");
    }
}
