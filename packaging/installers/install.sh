#!/bin/sh
# Installs n8n-lens {{version}} into ~/.local/bin, without root rights.
#
#   N8N_LENS_INSTALL_DIR    another folder
#   N8N_LENS_DOWNLOAD_URL   a mirror of the release's files
set -eu
version='{{version}}'
url=${N8N_LENS_DOWNLOAD_URL:-https://github.com/n8n-lens/n8n-lens/releases/download/v$version}
folder=${N8N_LENS_INSTALL_DIR:-$HOME/.local/bin}

fail() {
    echo "n8n-lens: $1" >&2
    exit 1
}

target() {
    case $(uname -m) in
        x86_64 | amd64) architecture=x86_64 ;;
        aarch64 | arm64) architecture=aarch64 ;;
        *) fail "there is no binary for $(uname -m). Build it with Rust: cargo install --git https://github.com/n8n-lens/n8n-lens" ;;
    esac
    case $(uname -s) in
        Darwin) echo "$architecture-apple-darwin" ;;
        # Only glibc knows this name; the static binary runs on every other Linux.
        Linux) if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then echo "$architecture-unknown-linux-gnu"; else echo "$architecture-unknown-linux-musl"; fi ;;
        *) fail "there is no binary for $(uname -s). On Windows, use install.ps1; elsewhere, cargo install --git https://github.com/n8n-lens/n8n-lens" ;;
    esac
}

expected_sha256() {
    case $1 in
        x86_64-unknown-linux-gnu) echo "{{sha256 x86_64-unknown-linux-gnu}}" ;;
        aarch64-unknown-linux-gnu) echo "{{sha256 aarch64-unknown-linux-gnu}}" ;;
        x86_64-unknown-linux-musl) echo "{{sha256 x86_64-unknown-linux-musl}}" ;;
        aarch64-unknown-linux-musl) echo "{{sha256 aarch64-unknown-linux-musl}}" ;;
        x86_64-apple-darwin) echo "{{sha256 x86_64-apple-darwin}}" ;;
        aarch64-apple-darwin) echo "{{sha256 aarch64-apple-darwin}}" ;;
    esac
}

download() {
    # A redirect must not lead to a weaker protocol than the given one.
    case $1 in https://*) protocols='=https' ;; *) protocols='=http,https' ;; esac
    if command -v curl >/dev/null; then
        curl --proto "$protocols" --tlsv1.2 --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        fail "curl or wget is needed; install one of them and run this again."
    fi || fail "$1 could not be downloaded. Check the connection (and HTTPS_PROXY), then run this again."
}

sha256_of() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# GitHub's own record of which workflow built a file. Reading it needs GitHub's command line, logged in.
check_attestation() {
    if command -v gh >/dev/null && gh attestation verify --help >/dev/null 2>&1 && gh auth status >/dev/null 2>&1; then
        gh attestation verify "$1" --repo n8n-lens/n8n-lens --source-ref "refs/tags/v$version" \
            --signer-workflow n8n-lens/n8n-lens/.github/workflows/release.yml >/dev/null ||
            fail "GitHub does not attest that $(basename "$1") was built by the release of version $version, so nothing was installed. If GitHub can be reached, report it at https://github.com/n8n-lens/n8n-lens/issues"
    fi
}

main() {
    target=$(target)
    name=n8n-lens-$target-v$version
    expected=$(expected_sha256 "$target")
    [ -n "$expected" ] || fail "version $version has no binary for $target."
    temporary=$(mktemp -d)
    trap 'rm -rf "$temporary"' EXIT

    download "$url/$name.tgz" "$temporary/$name.tgz"
    [ "$(sha256_of "$temporary/$name.tgz")" = "$expected" ] ||
        fail "$name.tgz does not have the expected SHA-256, so nothing was installed. Run this again; if it happens twice, report it at https://github.com/n8n-lens/n8n-lens/issues"
    check_attestation "$temporary/$name.tgz"
    tar -xzf "$temporary/$name.tgz" -C "$temporary"
    mkdir -p "$folder"
    # Renamed into place: a running n8n-lens keeps its file.
    cp "$temporary/$name/n8n-lens" "$folder/.n8n-lens.$$"
    chmod 755 "$folder/.n8n-lens.$$"
    mv "$folder/.n8n-lens.$$" "$folder/n8n-lens"
    echo "n8n-lens $version is installed: $folder/n8n-lens"

    case ":$PATH:" in
        *":$folder:"*) echo "Next, set N8N_URL and N8N_API_KEY, and run: n8n-lens check" ;;
        *) echo "$folder is not in your PATH. Add this line to the startup file of your shell, and open a new one:"
           echo "  export PATH=\"$folder:\$PATH\"" ;;
    esac
}

# Only here, so that a partially downloaded script does nothing.
main
