//! An n8n that keeps workflows: list, read, create, replace, activate and delete, as strict as the real one and in
//! its words.
//! Nothing in it is random: ids, versions and times follow the number of writes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, from_slice, json};

use super::server::{Reply, Request};

mod rules;

use rules::{Query, Rules, complete, lay_over, strike, text, without};

/// The version of n8n that is played.
