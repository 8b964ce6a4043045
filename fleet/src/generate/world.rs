//! A made-up fleet: hosts with slots, models with and without counters, and what is wrong with some of them.
//!
//! It shares no code and no constant with what reads its rows: what is to be found is decided here, from the physics of
//! one drive in its air, and written down as the truth. Everything follows from the seed by hashing (SplitMix64: Steele,
//! Lea, Flood, OOPSLA 2014), so that rows by drive and rows by time are the same rows.

/// What a fleet is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleetRecipe {
    pub(crate) seed: u64,
    pub(crate) drives: u64,
    /// Milliseconds from row to row.
    pub(crate) cadence_ms: i64,
    pub(crate) rows_each: u64,
    /// Share of drives with a bad thermal pad.
    pub(crate) hot: f64,
    /// Nothing is too hot anywhere: no fault, cold air.
    pub(crate) cool: bool,
}

/// Slots of a host.
pub(crate) const SLOTS: u64 = 24;
/// Slots that one fan cools.
const FAN_SLOTS: u64 = 6;
/// When rows begin: 2026-01-01 00:00 UTC.
pub(crate) const BEGIN_MS: i64 = 1_767_225_600_000;

/// A number from 0 to below 1 that follows from its arguments.
pub(crate) fn chance(seed: u64, thing: u64, purpose: u64) -> f64 {
    let mut z = seed
        .wrapping_add(thing.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(purpose.wrapping_mul(0xd1b5_4a32_d192_ed03));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 / (1u64 << 53) as f64
}

/// How a model's throttle counters behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterHonesty {
    Counts,
    /// Always 0, whatever happens.
    Zero,
    /// Not reported.
    Absent,
}

/// A model of drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelRecipe {
    pub(crate) name: &'static str,
    pub(crate) firmware: [&'static str; 2],
    pub(crate) honesty: CounterHonesty,
    /// Light and heavy throttling begin here, in °C.
    pub(crate) tmt_c: [f64; 2],
    /// A slot of its chassis that the air does not reach.
    pub(crate) odd_slot: Option<u64>,
}

/// The models, those in more hosts first.
pub(crate) const MODELS: [ModelRecipe; 5] = [
    ModelRecipe {
        name: "ACME NV3840",
        firmware: ["A100", "A110"],
        honesty: CounterHonesty::Counts,
        tmt_c: [70.0, 78.0],
        odd_slot: Some(17),
    },
    ModelRecipe {
        name: "Borealis 7T6",
        firmware: ["2B01", "2B07"],
        honesty: CounterHonesty::Counts,
        tmt_c: [72.0, 80.0],
        odd_slot: Some(5),
    },
    ModelRecipe {
        name: "Cinder X 1.92",
        firmware: ["CX3", "CX4"],
        honesty: CounterHonesty::Counts,
        tmt_c: [69.0, 77.0],
        odd_slot: None,
    },
    ModelRecipe {
        name: "Dune 960",
        firmware: ["D1", "D2"],
        honesty: CounterHonesty::Zero,
        tmt_c: [70.0, 78.0],
        odd_slot: None,
    },
    ModelRecipe {
        name: "Ember SATA 4T",
        firmware: ["E7", "E8"],
        honesty: CounterHonesty::Absent,
        tmt_c: [70.0, 78.0],
        odd_slot: None,
    },
];

/// What is wrong with a host's air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AirFault {
    /// One fan stands still from this share of the time on: its slots are hotter.
    DeadFan { zone: u64, from: f64 },
    /// The filter is fouled: all slots are hotter.
    Filter,
}

impl FleetRecipe {
    fn chance(&self, thing: u64, purpose: u64) -> f64 {
        chance(self.seed, thing, purpose)
    }

    /// The model in all slots of a host.
    pub(crate) fn model(&self, host: u64) -> &'static ModelRecipe {
        // 35, 30, 25, 5 and 5 of 100 hosts.
        let at = self.chance(host, 1);
        let index = [0.35, 0.65, 0.90, 0.95].iter().position(|upto| at < *upto).unwrap_or(4);
        &MODELS[index]
    }

    pub(crate) fn air_fault(&self, host: u64) -> Option<AirFault> {
        if self.cool {
            return None;
        }
        match self.chance(host, 2) {
            at if at < 0.015 => Some(AirFault::DeadFan {
                zone: (self.chance(host, 3) * (SLOTS / FAN_SLOTS) as f64) as u64,
                from: 0.1 + 0.3 * self.chance(host, 4),
            }),
            at if at < 0.025 => Some(AirFault::Filter),
            _ => None,
        }
    }

    /// Air at a slot in °C, when this share of the time has gone by.
    fn air_c(&self, host: u64, slot: u64, gone: f64) -> f64 {
        let inlet = if self.cool { 19.0 } else { 23.0 } + 2.0 * self.chance(host, 5);
        let mut air = inlet + 0.3 * slot as f64;
        if !self.cool && self.model(host).odd_slot == Some(slot) {
            air += 6.5;
        }
        match self.air_fault(host) {
            Some(AirFault::DeadFan { zone, from }) if slot / FAN_SLOTS == zone && gone >= from => air + 12.0,
            Some(AirFault::Filter) => air + 6.0,
            _ => air,
        }
    }
}

/// What happens to a place over time, each at a row or never.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlaceEvents {
    pub(crate) swap: Option<u64>,
    pub(crate) new_firmware: Option<u64>,
    pub(crate) reset: Option<u64>,
    pub(crate) glitch: Option<u64>,
    pub(crate) gap: Option<(u64, u64)>,
    pub(crate) doubled: Option<u64>,
    pub(crate) late: Option<u64>,
}

/// A slot of a host with what is in it now.
#[derive(Clone, Debug)]
pub(crate) struct FleetPlace {
    pub(crate) number: u64,
    pub(crate) host: u64,
    pub(crate) slot: u64,
    pub(crate) model: &'static ModelRecipe,
    pub(crate) events: PlaceEvents,
    /// 0, and 1 after a swap.
    pub(crate) generation: u64,
    pub(crate) firmware: usize,
    bad_pad: bool,
    /// Heat of the drive over its air by unit of load.
    resistance: f64,
    pub(crate) temp_c: f64,
    level: u8,
    pub(crate) counted: Counted,
    /// In this run, whatever counters say.
    pub(crate) throttled_ms: u64,
}

/// Lifetime counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) tmt_ms: [u64; 2],
    pub(crate) tmt_n: [u64; 2],
    pub(crate) warn_ms: u64,
    pub(crate) on_ms: u64,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) busy_ms: u64,
}

/// The temperature over which the warning minutes count, in °C.
const WARNING_C: f64 = 77.0;

impl FleetPlace {
    pub(crate) fn new(recipe: &FleetRecipe, number: u64) -> Self {
        let (host, slot) = (number / SLOTS, number % SLOTS);
        let at = |purpose: u64, share: f64| {
            let here = recipe.chance(number, purpose) < share;
            here.then(|| {
                1 + (recipe.chance(number, purpose + 50) * recipe.rows_each.saturating_sub(2) as f64) as u64
            })
        };
        // An exporter is down for all drives of a host at once.
        let gap = (recipe.chance(host, 20) < 0.03 && recipe.rows_each > 40).then(|| {
            let from = (recipe.chance(host, 21) * (recipe.rows_each - 30) as f64) as u64;
            (from, from + 5 + (recipe.chance(host, 22) * 20.0) as u64)
        });
        let events = PlaceEvents {
            swap: at(10, 0.002),
            new_firmware: at(11, 0.01),
            reset: at(12, 0.001),
            glitch: at(13, 0.0005),
            gap,
            doubled: at(14, 0.005),
            late: at(15, 0.002),
        };
        let mut place = Self {
            number,
            host,
            slot,
            model: recipe.model(host),
            events,
            generation: 0,
            firmware: usize::from(recipe.chance(host, 6) < 0.4),
            bad_pad: false,
            resistance: 1.0,
            temp_c: 0.0,
            level: 0,
            counted: Counted::default(),
            throttled_ms: 0,
        };
        place.insert(recipe, 0);
        place
    }

    /// Puts a drive into the place.
    pub(crate) fn insert(&mut self, recipe: &FleetRecipe, generation: u64) {
        let thing = self.number * 2 + generation;
        self.generation = generation;
        self.bad_pad = !recipe.cool && recipe.chance(thing, 30) < recipe.hot;
        // Drives of one model differ by some percent.
        self.resistance = 0.96 + 0.08 * recipe.chance(thing, 31) + if self.bad_pad { 0.8 } else { 0.0 };
        self.level = 0;
        self.throttled_ms = 0;
        self.temp_c = recipe.air_c(self.host, self.slot, 0.0) + 16.0;
        // Drives have a life behind them; some were throttled in it.
        let before =
            if recipe.chance(thing, 32) < 0.05 { (recipe.chance(thing, 33) * 4e6) as u64 } else { 0 };
        self.counted = Counted {
            tmt_ms: [before, 0],
            tmt_n: [before / 90_000, 0],
            on_ms: (recipe.chance(thing, 34) * 7e10) as u64,
            ..Counted::default()
        };
    }

    pub(crate) fn serial(&self) -> String {
        format!("S{:07}{}", self.number, ["A", "B"][usize::from(self.generation > 0)])
    }

    /// What is wrong with this drive, in a word.
    pub(crate) fn fault(&self, recipe: &FleetRecipe) -> &'static str {
        match recipe.air_fault(self.host) {
            _ if self.bad_pad => "bad_pad",
            Some(AirFault::DeadFan { zone, .. }) if zone == self.slot / FAN_SLOTS => "dead_fan",
            Some(AirFault::Filter) => "filter",
            _ if !recipe.cool && self.model.odd_slot == Some(self.slot) => "odd_slot",
            _ => "",
        }
    }

    /// Share of its speed that is asked of the drive: days with their peaks, hosts with their own, and some noise.
    fn load(&self, recipe: &FleetRecipe, step: u64, day: f64) -> f64 {
        let phase = recipe.chance(self.host, 40);
        let daily = 0.55 + 0.35 * (std::f64::consts::TAU * (day + 0.2 * phase)).sin();
        let noise = chance(recipe.seed ^ 0x5bd1, self.number.wrapping_mul(1_000_003) ^ (step / 3), 41) - 0.5;
        (daily + 0.15 * noise + 0.1 * (recipe.chance(self.number, 42) - 0.5)).clamp(0.02, 1.0)
    }

    /// Lives up to the next row: numbers `row` of rows from 0.
    pub(crate) fn live(&mut self, recipe: &FleetRecipe, row: u64) {
        // Steps of at most ten seconds where rows are a minute apart; longer ones where nobody sees more than a day.
        let steps = (recipe.cadence_ms / 10_000).clamp(1, 144) as u64;
        let step_s = recipe.cadence_ms as f64 / 1000.0 / steps as f64;
        let follow = 1.0 - (-step_s / 90.0_f64).exp();
        let gone = row as f64 / recipe.rows_each as f64;
        let air = recipe.air_c(self.host, self.slot, gone);
        let day = recipe.cadence_ms as f64 / 86_400_000.0;
        for step in 0..steps {
            let number = row * steps + step;
            let load = self.load(recipe, number, (row as f64 + step as f64 / steps as f64) * day);
            self.step(load, air, follow, (step_s * 1000.0) as u64);
        }
    }

    fn step(&mut self, load: f64, air: f64, follow: f64, step_ms: u64) {
        // Light throttling takes away a third of the heat of load, heavy throttling three quarters.
        let speed = [1.0, 0.66, 0.25][usize::from(self.level)];
        let target = air + (11.0 + 19.0 * load * speed) * self.resistance;
        self.temp_c += (target - self.temp_c) * follow;
        let [light, heavy] = self.model.tmt_c;
        let old = self.level;
        self.level = match self.level {
            _ if self.temp_c >= heavy => 2,
            2 if self.temp_c > heavy - 3.0 => 2,
            1 | 2 if self.temp_c > light - 3.0 => 1,
            _ if self.temp_c >= light => 1,
            _ => 0,
        };
        if self.level > old {
            self.counted.tmt_n[usize::from(self.level) - 1] += 1;
        }
        if self.level > 0 {
            self.counted.tmt_ms[usize::from(self.level) - 1] += step_ms;
            self.throttled_ms += step_ms;
        }
        if self.temp_c >= WARNING_C {
            self.counted.warn_ms += step_ms;
        }
        let bytes = (load * speed * 2.0e6) as u64 * step_ms;
        self.counted.read_bytes += bytes * 2 / 3;
        self.counted.written_bytes += bytes / 3;
        // A throttled drive is busy with less.
        self.counted.busy_ms += ((load * 1.1 / speed).min(1.0) * step_ms as f64) as u64;
        self.counted.on_ms += step_ms;
    }

    /// What happens to the place before this row.
    pub(crate) fn happen(&mut self, recipe: &FleetRecipe, row: u64) -> Option<TruthOfDrive> {
        if self.events.new_firmware == Some(row) {
            self.firmware = 1 - self.firmware;
        }
        if self.events.reset == Some(row) {
            self.counted = Counted { on_ms: self.counted.on_ms, ..Counted::default() };
        }
        if self.events.swap == Some(row) {
            let gone = self.truth(recipe);
            self.insert(recipe, 1);
            return Some(gone);
        }
        None
    }

    pub(crate) fn truth(&self, recipe: &FleetRecipe) -> TruthOfDrive {
        TruthOfDrive {
            serial: self.serial(),
            model: self.model.name,
            host: self.host,
            slot: self.slot,
            counts: self.model.honesty == CounterHonesty::Counts,
            throttled_s: self.throttled_ms / 1000,
            fault: self.fault(recipe),
        }
    }

    /// Whether the exporter was down at this row.
    pub(crate) fn is_silent(&self, row: u64) -> bool {
        self.events.gap.is_some_and(|(from, to)| (from..to).contains(&row))
    }
}

/// What is true of one drive.
pub(crate) struct TruthOfDrive {
    pub(crate) serial: String,
    pub(crate) model: &'static str,
    pub(crate) host: u64,
    pub(crate) slot: u64,
    /// Whether its counters tell.
    pub(crate) counts: bool,
    pub(crate) throttled_s: u64,
    pub(crate) fault: &'static str,
}
