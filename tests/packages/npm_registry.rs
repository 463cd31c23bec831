//! A registry of npm on loopback, with the packages of one folder.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use super::server::{Reply, Request, Server};

struct Package {
    /// Its `package.json`.
    manifest: Value,
    tarball: Arc<[u8]>,
}

/// Serves the packages of a folder until it is dropped. Anything else does not exist.
pub fn serve(folder: &Path) -> Server {
    let tarballs = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let packages: HashMap<_, _> =
        tarballs.map(Package::read).map(|package| (package.name().to_owned(), package)).collect();
    Server::start(move |request| answer(&packages, request))
}

impl Package {
    fn read(tarball: Vec<u8>) -> Self {
        let mut archive = tar::Archive::new(GzDecoder::new(&*tarball));
        let mut entries = archive.entries().unwrap().map(Result::unwrap);
        let mut entry = entries.find(|entry| entry.path().unwrap().ends_with("package.json")).unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        Self { manifest: serde_json::from_str(&text).unwrap(), tarball: tarball.into() }
    }

    fn name(&self) -> &str {
        self.manifest["name"].as_str().unwrap()
    }

    /// The document that npm requests by the name of the package.
    fn document(&self, registry: &str) -> Value {
        let version = self.manifest["version"].as_str().unwrap();
        let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(&self.tarball)));
        let mut manifest = self.manifest.clone();
        manifest["dist"] =
            json!({"tarball": format!("{registry}/{}/-/{version}.tgz", self.name()), "integrity": integrity});
        json!({"name": self.name(), "dist-tags": {"latest": version}, "versions": {version: manifest}})
    }
}

fn answer(packages: &HashMap<String, Package>, request: &Request) -> Reply {
    let path = request.path.trim_start_matches('/').replace("%2f", "/");
    if let Some((name, _)) = path.split_once("/-/") {
        return Reply::bytes(200, "application/octet-stream", packages[name].tarball.clone());
    }
    match packages.get(&path) {
        Some(package) => {
            let registry = format!("http://{}", request.header("host").unwrap());
            Reply::json(200, package.document(&registry).to_string())
        }
        None => Reply::json(404, r#"{"error":"not found"}"#),
    }
}
