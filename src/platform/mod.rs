//! What operating systems do differently: files with the same functions. The code that ends processes
//! (`gateway/group/`) and keeps folders open (`workflow/directory/`) is next to its users, in the same form.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(any(target_os = "linux", windows)))]
mod elsewhere;
#[cfg(not(any(target_os = "linux", windows)))]
pub(crate) use elsewhere::*;
