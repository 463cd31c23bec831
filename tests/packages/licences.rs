//! The accompaniments of a binary: third-party licences, and the bill of materials.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{PACKAGES, TARGETS, VERSION, root, succeed};

/// A file in an archive or a package, by the end of its name.
fn packed(package: &Path, file: &str) -> String {
    let is_tar = package.extension().is_some_and(|end| end == "tgz");
    if is_tar {
        return succeed(Command::new("tar").arg("-xzOf").arg(package).args(["--wildcards", &format!("*/{file}")]));
    }
    // All others are zip archives.
    let script = "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nsys.stdout.buffer.write(next(z.read(n) for n in z.namelist() if n.endswith(sys.argv[2])))";
    succeed(Command::new("python3").args(["-c", script]).arg(package).arg(file))
}

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(PACKAGES.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn bill_of_materials() -> Value {
    let file = PACKAGES.join("release").join(format!("n8n-lens-v{VERSION}.cdx.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn every_package_has_the_licences_of_all_crates() {
    let expected = std::fs::read_to_string(PACKAGES.join("image/THIRD-PARTY-LICENSES.txt")).unwrap();
    for component in bill_of_materials()["components"].as_array().unwrap() {
        let [name, version] = ["name", "version"].map(|member| component[member].as_str().unwrap());
        assert!(expected.contains(&format!("\n{name} {version} (")), "{name} {version}");
    }
    for other in ["the Rust standard library", "musl", "SQLite", "Permission is hereby granted"] {
        assert!(expected.contains(other), "{other}");
    }
    let has_binary = |name: &str| {
        let is_archive = [".tgz", ".zip", ".mcpb", ".whl"].iter().any(|end| name.ends_with(end));
        // The launcher contains no third-party code.
        is_archive && name != format!("n8n-lens-{VERSION}.tgz")
    };
    let packages: Vec<_> = ["release", "npm", "pypi"].into_iter().flat_map(files).collect();
    let packages = packages.iter().filter(|file| has_binary(file.file_name().unwrap().to_str().unwrap()));
    let packages: Vec<_> = packages.collect();
    assert_eq!(packages.len(), 3 * TARGETS.len() + 1, "archives, npm, wheels, the bundle: {packages:?}");
    for file in packages {
        assert!(packed(file, "THIRD-PARTY-LICENSES.txt") == expected, "{}", file.display());
    }
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn the_bill_of_materials_lists_what_cargo_lock_fixes() {
    let bill = bill_of_materials();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    assert_eq!(bill["metadata"]["component"]["version"], VERSION);
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut known = BTreeSet::from([bill["metadata"]["component"]["bom-ref"].as_str().unwrap().to_owned()]);
    for component in bill["components"].as_array().unwrap() {
        let [name, version, purl] = ["name", "version", "purl"].map(|member| component[member].as_str().unwrap());
        let sum = component["hashes"][0]["content"].as_str().unwrap();
        assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")), "{name} {version}");
        assert!(lock.contains(&format!("checksum = \"{sum}\"")), "{name} {version}");
        assert!(!component["licenses"][0]["expression"].as_str().unwrap().contains('/'), "{component}");
        assert!(known.insert(purl.to_owned()), "{purl} twice");
    }
    assert!(known.iter().any(|purl| purl.starts_with("pkg:cargo/serde_json@")));
    assert!(!known.iter().any(|purl| purl.starts_with("pkg:cargo/criterion@")), "only what is linked");
    for dependency in bill["dependencies"].as_array().unwrap() {
        let edges = dependency["dependsOn"].as_array().unwrap().iter().chain([&dependency["ref"]]);
        for edge in edges {
            assert!(known.contains(edge.as_str().unwrap()), "{edge}");
        }
    }
    let again = succeed(Command::new(root().join("packaging/crates.py")).arg("sbom"));
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), bill, "equal input makes equal output");
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn the_image_has_folders_that_its_user_can_write() {
    let listed = succeed(Command::new("tar").args(["--numeric-owner", "-tvf"]).arg(PACKAGES.join("image/folders.tar")));
    let folders: Vec<Vec<_>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    let of = |folder: &str| folders.iter().find(|line| line.last() == Some(&folder)).unwrap()[..2].to_vec();
    assert_eq!(of("tmp/"), ["drwxrwxrwt", "65532/65532"]);
    assert_eq!(of("home/n8n-lens/"), ["drwx------", "65532/65532"]);
}

#[test]
#[ignore = "packs with npm's and Python's tools"]
fn the_wheel_says_whose_it_is() {
    let wheel = files("pypi").into_iter().next().unwrap();
    let metadata = packed(&wheel, "METADATA");
    for line in [
        "Author: n8n-lens",
        "License-File: LICENSE",
        "License-File: THIRD-PARTY-LICENSES.txt",
        "Project-URL: Homepage, https://github.com/n8n-lens/n8n-lens",
        "Project-URL: Issues, https://github.com/n8n-lens/n8n-lens/issues",
    ] {
        assert!(metadata.lines().any(|found| found == line), "{line}: {metadata}");
    }
}
