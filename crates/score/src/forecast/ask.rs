//! What a fitted drive is asked, and what the drive itself answers.

use fit::Scenario;
use fit::simulate::{LoadPhase, PhaseOutcome, outcome};

use super::drives::TestDrive;
use super::log::{AIRFLOW, Room, seconds};
use super::state::STATE;

/// Kinds of questions, as the tables have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QuestionKind {
    /// Another TMT1.
    Tmt,
    /// Other air.
    Air,
    /// Another load: a mix, a rate limit.
    Load,
    /// Half the resistance to the air.
    Fan,
    /// Another power state.
    State,
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) kind: QuestionKind,
    /// TMT1 and TMT2 higher by this.
    tmt_up_k: u16,
    warmer_k: f64,
}

/// Length of a phase in seconds.
const PHASE_S: usize = 300;

impl Question {
    /// All that a drive is asked.
    pub(super) fn all(drive: &TestDrive, fan: bool, state: bool) -> Vec<Self> {
        let none = Self { kind: QuestionKind::Load, tmt_up_k: 0, warmer_k: 0.0 };
        let mut all = vec![
            Self { kind: QuestionKind::Air, warmer_k: -10.0, ..none },
            Self { kind: QuestionKind::Air, warmer_k: 10.0, ..none },
            none,
        ];
        all.extend(fan.then_some(Self { kind: QuestionKind::Fan, ..none }));
        all.extend(state.then_some(Self { kind: QuestionKind::State, ..none }));
        if drive.has_hctm() {
            all.extend([5, 10].map(|tmt_up_k| Self { kind: QuestionKind::Tmt, tmt_up_k, ..none }));
        }
        all
    }

    /// The load of questions about settings: writes, then reads.
    pub(super) const fn tmt() -> Self {
        Self { kind: QuestionKind::Tmt, tmt_up_k: 0, warmer_k: 0.0 }
    }

    /// The question about the other power state.
    pub(super) const fn state() -> Self {
        Self { kind: QuestionKind::State, ..Self::tmt() }
    }

    fn tmt_k(&self, drive: &TestDrive) -> [u16; 2] {
        // No drive takes more than it allows.
        let most = drive.most_tmt_k();
        let [tmt1_k, tmt2_k] = drive.tmt_k.map(|kelvin| kelvin + self.tmt_up_k);
        if drive.has_hctm() { [tmt1_k.min(most - 1), tmt2_k.min(most)] } else { [0, 0] }
    }

    /// It as a fit is asked.
    pub(super) fn scenario(&self, drive: &TestDrive) -> Scenario {
        Scenario {
            tmt_k: if self.tmt_up_k > 0 { self.tmt_k(drive).map(Some) } else { [None; 2] },
            airflow: (self.kind == QuestionKind::Fan).then_some(AIRFLOW),
            power_state: (self.kind == QuestionKind::State).then_some(STATE),
            ambient_k: (self.warmer_k != 0.0).then(|| drive.ambient_k() + self.warmer_k),
            ..Scenario::default()
        }
    }

    /// Its load: writes, then reads; or a mix at three quarters, then reads at four fifths.
    pub(super) fn load(&self, drive: &TestDrive) -> Vec<LoadPhase> {
        let phase = |name: &str, read_share, limit_bytes_per_s| LoadPhase {
            limit_bytes_per_s,
            ..LoadPhase::sequential(name, Some(read_share), PHASE_S)
        };
        let [read, write] = drive.full();
        let mixed = 1.0 / (0.7 / read + 0.3 / write);
        match self.kind {
            QuestionKind::Tmt | QuestionKind::Air | QuestionKind::Fan | QuestionKind::State => {
                vec![phase("write", 0.0, f64::INFINITY), phase("read", 1.0, f64::INFINITY)]
            }
            QuestionKind::Load => vec![phase("mixed", 0.7, 0.75 * mixed), phase("read", 1.0, 0.8 * read)],
        }
    }
}

/// What the drive itself does; with `off_k`, in air that much warmer than it was asked about.
pub(super) fn truth(
    drive: &TestDrive,
    question: &Question,
    load: &[LoadPhase],
    off_k: f64,
) -> Vec<PhaseOutcome> {
    let room = Room {
        tmt_k: question.tmt_k(drive),
        warmer_k: question.warmer_k + off_k,
        aired: question.kind == QuestionKind::Fan,
        other_state: question.kind == QuestionKind::State,
        unguarded: false,
    };
    // Firmware that sleeps has the same dips: what is slower is heat's doing.
    let unguarded = seconds(drive, Room { unguarded: true, ..room }, load);
    let guarded = seconds(drive, room, load);
    let phases = guarded.iter().zip(&unguarded);
    phases.map(|(seconds, full)| outcome(seconds, |at| full[at].bytes)).collect()
}
