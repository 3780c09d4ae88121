/tmp/wt/rskj/bench/load/target/debug/deps/rhizome_load-1b736d963f496d13.d: /tmp/wt/rskj/clippy.toml src/main.rs src/answer.rs src/connection.rs src/options.rs src/plan.rs src/report.rs src/run.rs Cargo.toml

/tmp/wt/rskj/bench/load/target/debug/deps/librhizome_load-1b736d963f496d13.rmeta: /tmp/wt/rskj/clippy.toml src/main.rs src/answer.rs src/connection.rs src/options.rs src/plan.rs src/report.rs src/run.rs Cargo.toml

/tmp/wt/rskj/clippy.toml:
src/main.rs:
src/answer.rs:
src/connection.rs:
src/options.rs:
src/plan.rs:
src/report.rs:
src/run.rs:
Cargo.toml:

# env-dep:CLIPPY_ARGS=
# env-dep:CLIPPY_CONF_DIR
