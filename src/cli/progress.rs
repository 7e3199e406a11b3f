//! Progress bars on standard error, for people only.

use std::io::{IsTerminal, stdout};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for so many bytes of input.
///
/// Where the answers go to the same terminal they are progress enough, and a bar would break them.
pub(super) fn of_bytes(length: u64) -> ProgressBar {
    if stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    bar(length, "{bar:40} {bytes} of {total_bytes}, {eta} left")
}

/// A bar for so many boards.
pub(super) fn of_boards(count: u64) -> ProgressBar {
    bar(
        count,
        "{bar:40} {percent} % of {human_len} boards, {eta} left",
    )
}

/// Hidden where standard error is not a terminal.
fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("##-");
    let bar =
        ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr()).with_style(style);
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(250));
    }
    bar
}
