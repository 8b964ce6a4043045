//! The machine a run is made on, for the manifest.

use std::fs;
use std::path::Path;

use measure::record::HostFacts;

/// What this machine says about itself.
pub(crate) fn facts() -> HostFacts {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let kernel = [uname.sysname(), uname.release(), uname.version()].map(text).join(" ");
    let proc = Path::new("/proc");
    HostFacts {
        hostname: text(uname.nodename()),
        kernel,
        cpu: fs::read_to_string(proc.join("cpuinfo")).ok().as_deref().and_then(cpu_model),
        cpu_count: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        memory_bytes: fs::read_to_string(proc.join("meminfo")).ok().as_deref().and_then(memory_bytes),
    }
}

/// The first processor's name: `model name` on x86, `Model` on ARM boards; `None` where neither stands.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |name: &str| {
        let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    value("model name").or_else(|| value("Model")).filter(|model| !model.is_empty())
}

/// `MemTotal:       24684100 kB`; the kernel's kB are 1024 bytes (proc(5)).
fn memory_bytes(meminfo: &str) -> Option<u64> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_kernels_texts_are_understood_and_odd_ones_are_left_out() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: Example CPU @ 3 GHz\n"),
            Some("Example CPU @ 3 GHz".into())
        );
        assert_eq!(
            cpu_model("processor : 0\nHardware : x\nModel : Example Board\n"),
            Some("Example Board".into())
        );
        assert_eq!(cpu_model("processor : 0\n"), None);
        assert_eq!(memory_bytes("MemTotal:       2048 kB\nMemFree: 1 kB\n"), Some(2048 * 1024));
        assert_eq!(memory_bytes("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn this_machine_has_a_name_and_a_kernel() {
        let facts = facts();
        assert!(facts.kernel.starts_with("Linux ") && facts.cpu_count > 0, "{facts:?}");
    }
}
