//! What a drive says about itself and its settings, byte for byte, for the record of a run.
//!
//! Nothing is decoded here, so that a reader who knows more than we do, or doubts what we have made of it, has the
//! bytes. Which commands: NVMe Base 2.3, Identify and Get Features.
//!
//! # What it does not do
//! It changes nothing and decides nothing. The SMART log is no part of it: its pages are the record's table `smart`.

use measure::record::{RawAnswer, RunEdge};
use nvme::command::{AdminCommand, GetFeatures, Identify};
use nvme::feature::temperature::{ThresholdSelector, ThresholdSensor, ThresholdSide};
use nvme::feature::{FeatureId, Select};
use nvme::host::{Data, HostError};
use nvme::identify::IdentifyController;

use super::DriveSettings;

impl DriveSettings<'_> {
    /// Identify of the controller and of namespace `nsid`, and the features; at the end of a run the features alone.
    /// What the drive refuses is kept with its status.
    ///
    /// # Errors
    /// When the drive does not answer at all.
    pub fn raw_answers(&mut self, nsid: Option<u32>, when: RunEdge) -> Result<Vec<RawAnswer>, HostError> {
        let mut answers = Vec::new();
        if when == RunEdge::Start {
            answers.push(self.raw(AdminCommand::Identify(Identify::controller()), when)?);
            if let Some(nsid) = nsid {
                answers.push(self.raw(AdminCommand::Identify(Identify::namespace(nsid)), when)?);
            }
        }
        // Without select and save (ONCS bit 4) a drive may ignore the selection and return its current value.
        let others: &[Select] = if self.identify().has_select_and_save() {
            &[Select::Default, Select::Saved, Select::Supported]
        } else {
            &[]
        };
        let commands: Vec<GetFeatures> = features(self.identify()).collect();
        for command in commands {
            let current = self.raw(AdminCommand::GetFeatures(command), when)?;
            let has_it = current.status == 0;
            answers.push(current);
            for &select in others.iter().filter(|_| has_it) {
                answers.push(self.raw(AdminCommand::GetFeatures(GetFeatures { select, ..command }), when)?);
            }
        }
        Ok(answers)
    }

    fn raw(&mut self, command: AdminCommand, when: RunEdge) -> Result<RawAnswer, HostError> {
        let sqe = command.encode();
        // Every command of this file is one whose length is known.
        let mut page = vec![0; command.data_len().unwrap_or(0) as usize];
        let data = if page.is_empty() { Data::None } else { Data::Read(&mut page) };
        let completion = self.controller().complete(&command, data)?;
        let has_come = completion.status.is_success();
        Ok(RawAnswer {
            when,
            command: name(&command),
            opcode: sqe.opcode,
            nsid: sqe.nsid,
            cdw10: sqe.dword(10),
            cdw11: sqe.dword(11),
            status: completion.status.as_field(),
            dword0: if has_come { completion.dword0() } else { 0 },
            data_bytes: if has_come { page.len() as u32 } else { 0 },
            data_hex: if has_come { RawAnswer::hex(&page) } else { String::new() },
        })
    }
}

/// The current values that are asked for: those that decide when and how a drive slows down, sleeps or caches, as far
/// as it says that it has them. Drives keep a log of what they had to refuse.
fn features(identify: &IdentifyController) -> impl Iterator<Item = GetFeatures> {
    let whole = |fid| GetFeatures::controller(fid, Select::Current);
    let under = ThresholdSelector { sensor: ThresholdSensor::Composite, side: ThresholdSide::Under };
    [
        (true, whole(FeatureId::POWER_MANAGEMENT)),
        (true, ThresholdSelector::COMPOSITE_OVER.get(Select::Current)),
        (true, under.get(Select::Current)),
        (identify.has_write_cache(), whole(FeatureId::VOLATILE_WRITE_CACHE)),
        (identify.apst_supported, whole(FeatureId::APST)),
        (identify.host_memory.preferred.is_some(), whole(FeatureId::HOST_MEMORY_BUFFER)),
        (identify.hctm.supported, whole(FeatureId::HCTM)),
    ]
    .into_iter()
    .filter_map(|(has, command)| has.then_some(command))
}

fn name(command: &AdminCommand) -> String {
    match command {
        AdminCommand::GetFeatures(GetFeatures { select, .. }) => {
            format!("{command}, {}", value_name(*select))
        }
        _ => command.to_string(),
    }
}

const fn value_name(select: Select) -> &'static str {
    match select {
        Select::Current => "current",
        Select::Default => "default",
        Select::Saved => "saved",
        Select::Supported => "capabilities",
        Select::Reserved(_) => "reserved",
    }
}

#[cfg(test)]
mod test {
    use measure::Bytes;
    use nvme::Status;
    use nvme::host::scripted::{ScriptedTransport, Step};

    use super::*;

    /// A page as Identify Controller answers it. `all`: with every feature, and with select and save (ONCS bit 4).
    fn identify(all: bool) -> Vec<u8> {
        let mut identify = IdentifyController::unreported();
        identify.model = "Golden".to_owned();
        if all {
            identify.optional_nvm = 1 << 4;
            identify.write_cache = 1;
            identify.apst_supported = true;
            identify.host_memory.preferred = Some(Bytes::new(64 << 20));
            identify.hctm.supported = true;
        }
        let mut page = identify.encode().to_vec();
        // Bytes that nobody decodes are kept as well.
        page[4000] = 0xa5;
        page
    }

    fn get(cdw10: u32, cdw11: u32) -> Step {
        Step::raw(0x0a, 0, [cdw10, cdw11, 0, 0, 0, 0])
    }

    fn identify_step(nsid: u32, cns: u32, page: &[u8]) -> Step {
        Step::raw(0x06, nsid, [cns, 0, 0, 0, 0, 0]).answers(page)
    }

    /// Feature `fid` with four values; the fourth is what can be done with it, and has no data.
    fn four(fid: u32, cdw11: u32, values: [u32; 4], data: &[u8]) -> [Step; 4] {
        let value = |select: u32| get(select << 8 | fid, cdw11).result(values[select as usize]);
        [value(0).answers(data), value(1).answers(data), value(2).answers(data), value(3)]
    }

    #[test]
    fn every_byte_is_kept_and_every_refusal() {
        let (page, mut namespace) = (identify(true), vec![0; 4096]);
        namespace[..8].copy_from_slice(&0x1234_5678_u64.to_le_bytes());
        let table: Vec<u8> = (1..=255).chain([0]).collect();
        let mut steps =
            vec![identify_step(0, 1, &page), identify_step(0, 1, &page), identify_step(7, 0, &namespace)];
        steps.extend(four(0x02, 0, [3, 0, 1, 4], &[]));
        steps.extend(four(0x04, 0, [353, 358, 353, 5], &[]));
        steps.push(get(0x04, 1 << 20).fails(Status::INVALID_FIELD.do_not_retry()));
        steps.push(get(0x06, 0).fails(Status::INVALID_FIELD));
        steps.extend(four(0x0c, 0, [1, 0, 1, 4], &table));
        steps.push(get(0x0d, 0).fails(Status::INVALID_FIELD));
        steps.extend(four(0x10, 0, [338 << 16 | 343, 0, 0, 4], &[]));
        let mut settings = DriveSettings::open(ScriptedTransport::new(steps)).expect("it tells who it is");
        let answers = settings.raw_answers(Some(7), RunEdge::Start).expect("it answers");
        let data: Vec<Vec<u8>> = answers.iter().map(|one| one.data().expect("it is data")).collect();
        assert_eq!((&data[0], &data[1]), (&page, &namespace));
        assert_eq!(answers[1].data_hex, "78563412");
        assert_eq!((answers[1].opcode, answers[1].nsid, answers[1].cdw10), (6, 7, 0));
        let found = |cdw10, cdw11| {
            let one = |one: &&RawAnswer| (one.opcode, one.cdw10, one.cdw11) == (0x0a, cdw10, cdw11);
            let at = answers.iter().position(|answer| one(&answer)).expect("it was asked");
            (answers[at].command.as_str(), answers[at].status, answers[at].dword0, data[at].len())
        };
        assert_eq!(
            found(0x210, 0),
            ("Get Features Host Controlled Thermal Management (10h), saved", 0, 0, 0)
        );
        assert_eq!(found(0x010, 0).2, 338 << 16 | 343);
        assert_eq!(found(0x104, 0).2, 358);
        assert_eq!((found(0x04, 1 << 20).1, found(0x0d, 0).1), (0x4002, 2));
        assert_eq!((found(0x00c, 0).3, found(0x30c, 0).3), (256, 0));
        assert_eq!(answers.len(), 2 + 4 * 4 + 3);
    }

    /// At the end of a run identity is not asked again, and nobody asks for what the drive says it has not.
    #[test]
    fn a_drive_is_asked_for_nothing_that_it_has_not() {
        let page = identify(false);
        let mut steps = vec![identify_step(0, 1, &page)];
        steps.extend([(0x02, 0), (0x04, 0)].map(|(fid, cdw11)| get(fid, cdw11)));
        // The drive goes.
        steps.push(get(0x04, 1 << 20).errors(libc::ENODEV));
        let mut settings = DriveSettings::open(ScriptedTransport::new(steps)).expect("it tells who it is");
        assert!(settings.raw_answers(Some(1), RunEdge::End).expect_err("it has gone").is_gone());
    }
}
