//! Lets the tests be ignored, not passed, where no NATS server is installed.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(nats_server)");
    println!("cargo::rerun-if-env-changed=RHIZOME_NATS_SERVER");
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("RHIZOME_NATS_SERVER").is_some() {
        println!("cargo::rustc-cfg=nats_server");
    }
}
