//! The wheel for PyPI with the binary in it, so that `pip install`, `pipx run` and `uvx` work, and with the package
//! `heatsoak` beside it for `import heatsoak`.
//!
//! A wheel is a zip with a fixed layout (PyPA, "Binary distribution format"); Python's own `zipfile` writes it, with the
//! commit's time for every member.

use std::fs;
use std::process::Command;

use anyhow::Result;

use super::{Release, elf, output};

const WRITER: &str = r#"
import base64, hashlib, sys, time, zipfile
out, version, tag, epoch, binary, summary, package, *rest = sys.argv[1:]
info = f"heatsoak-{version}.dist-info"
read = lambda path: open(path, "rb").read()
metadata = f"""Metadata-Version: 2.4
Name: heatsoak
Version: {version}
Summary: {summary}
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
License-File: THIRD-PARTY-LICENSES.txt
Requires-Python: >=3.9
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Benchmark
Description-Content-Type: text/markdown

""".encode() + read(rest[0])
wheel = f"Wheel-Version: 1.0\nGenerator: cargo xtask package\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
members = [(f"heatsoak-{version}.data/scripts/heatsoak", read(binary), 0o755),
           (f"{info}/METADATA", metadata, 0o644), (f"{info}/WHEEL", wheel, 0o644)]
for name in ("__init__.py", "fleet.py", "py.typed"):
    members.append((f"heatsoak/{name}", read(f"{package}/{name}"), 0o644))
for path in rest[1:]:
    members.append((f"{info}/licenses/" + path.rsplit("/", 1)[1], read(path), 0o644))
digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in members)
members.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name, data, mode in members:
        member = zipfile.ZipInfo(name, time.gmtime(int(epoch))[:6])
        member.external_attr = (0o100000 | mode) << 16
        member.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(member, data)
"#;

/// Writes `heatsoak-VERSION-py3-none-manylinux_..whl`.
pub(super) fn write(release: &Release) -> Result<()> {
    let needed = elf::glibc_needed(&fs::read(&release.binary)?)?;
    let glibc = needed.keys().next_back().copied().unwrap_or(elf::Version(2, 17));
    let tag = format!("py3-none-manylinux_{}_{}_{}", glibc.0, glibc.1, std::env::consts::ARCH);
    let wheel = release.out.join(format!("heatsoak-{}-{tag}.whl", release.version));
    let root = &release.root;
    output(
        Command::new("python3")
            .args(["-c", WRITER])
            .arg(wheel)
            .args([&release.version, &tag, &release.time_s.to_string()])
            .arg(&release.binary)
            .arg("Measures how an SSD throttles when it gets hot")
            .arg(root.join("python/heatsoak"))
            .args([root.join("README.md"), root.join("LICENSE-APACHE"), root.join("LICENSE-MIT")])
            .arg(release.out.join("THIRD-PARTY-LICENSES.txt")),
    )
    .map(|_| ())
}
