/tmp/wt/rskj/bench/load/target/debug/deps/rhizome_load-fd820fba3fcb32a0.d: src/main.rs src/answer.rs src/connection.rs src/options.rs src/plan.rs src/report.rs src/run.rs

/tmp/wt/rskj/bench/load/target/debug/deps/rhizome_load-fd820fba3fcb32a0: src/main.rs src/answer.rs src/connection.rs src/options.rs src/plan.rs src/report.rs src/run.rs

src/main.rs:
src/answer.rs:
src/connection.rs:
src/options.rs:
src/plan.rs:
src/report.rs:
src/run.rs:
