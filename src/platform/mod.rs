//! What operating systems do differently: files of the same functions. How processes are ended (`gateway/group/`) and
//! how folders are kept open (`workflow/directory/`) is beside its users, in the same form.

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
