//! Sets linker options: symbols of Node are resolved when the addon is loaded. Sets the folder in which the macros of the
//! exports write their typings: `typings/` beside the built library. `typings.mjs` generates the committed file from it.

use std::path::PathBuf;

fn main() {
    napi_build::setup();
    // Equal functions, and equal constants of Rust and C++, are linked once: 6 % of the library. Rust links with lld on this
    // target, and lld knows the flags. `.cargo/config.toml` keeps the constants of C code apart.
    if std::env::var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--icf=all,--ignore-data-address-equality");
    }
    // <target>/release/build/<package>/out
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    if let Some(profile) = out.ancestors().nth(3) {
        let typings = profile.join("typings");
        if std::fs::create_dir_all(&typings).is_ok() {
            println!("cargo::rustc-env=NAPI_TYPE_DEF_TMP_FOLDER={}", typings.display());
        }
    }
}
