//! Readings on time beside a load that wants every processor.

/// Lets this thread go before others that want a processor, where the user may (root, or `RLIMIT_RTPRIO`); elsewhere
/// nothing changes, and readings are as late as the machine is busy: their time is when they were taken either way.
///
/// For threads that read and wait, some milliseconds of processor a second at most. The lowest real-time priority is
/// enough to go before all ordinary work (sched(7)); what such a thread starts, smartctl for one, is ordinary again.
#[expect(unsafe_code, reason = "no safe wrapper of this call is in what we use")]
pub fn be_punctual() {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: 0 is the calling thread, and the kernel only reads the parameters.
    let _refused =
        unsafe { libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const lowest) };
}

#[cfg(test)]
mod test {
    use super::*;

    /// Scheduling policy of a thread: field 41 of its stat (proc_pid_stat(5)).
    fn policy(stat: &str) -> Option<i32> {
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(38)?.parse().ok()
    }

    /// CAP_SYS_NICE, bit 23 (capabilities(7)).
    fn may_go_first() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("capabilities");
        u64::from_str_radix(line.trim(), 16).expect("hexadecimal") >> 23 & 1 == 1
    }

    /// Goal: where it may, the thread goes first, and what it starts does not.
    #[test]
    fn a_reader_goes_first_and_what_it_starts_does_not() {
        let reader = std::thread::spawn(|| {
            be_punctual();
            let mine = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux");
            let child = std::process::Command::new("cat").arg("/proc/self/stat").output().expect("cat");
            (policy(&mine), policy(&String::from_utf8_lossy(&child.stdout)))
        });
        let (mine, child) = reader.join().expect("no panic");
        assert!(matches!(mine, Some(0 | libc::SCHED_RR)), "{mine:?}");
        assert_eq!(child, Some(0));
        if may_go_first() {
            assert_eq!(mine, Some(libc::SCHED_RR));
        }
    }
}
