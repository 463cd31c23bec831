//! The binary: everything is in the library.

fn main() -> std::process::ExitCode {
    n8n_lens::cli::run()
}
