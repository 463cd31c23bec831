# Installs n8n-lens {{version}} into ~\.local\bin, without administrator rights.
#
#   $env:N8N_LENS_INSTALL_DIR    another folder
#   $env:N8N_LENS_DOWNLOAD_URL   a mirror of the release's files
$ErrorActionPreference = 'Stop'
# Windows PowerShell 5 draws a progress bar that slows down downloads.
$ProgressPreference = 'SilentlyContinue'
# Older versions of Windows PowerShell do not offer TLS 1.2 by default.
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$version = '{{version}}'
$expected = '{{sha256 x86_64-pc-windows}}'
$url = if ($env:N8N_LENS_DOWNLOAD_URL) { $env:N8N_LENS_DOWNLOAD_URL } else { "https://github.com/n8n-lens/n8n-lens/releases/download/v$version" }
$folder = if ($env:N8N_LENS_INSTALL_DIR) { $env:N8N_LENS_INSTALL_DIR } else { Join-Path $HOME '.local\bin' }

# Windows on ARM runs the same binary.
if (-not [Environment]::Is64BitOperatingSystem) {
    throw 'n8n-lens: there is no binary for 32-bit Windows.'
}
$name = "n8n-lens-{{windows target}}-v$version"
$temporary = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $temporary | Out-Null
try {
    $archive = Join-Path $temporary "$name.zip"
    Invoke-WebRequest -UseBasicParsing -Uri "$url/$name.zip" -OutFile $archive
    if ((Get-FileHash -Algorithm SHA256 -Path $archive).Hash -ne $expected) {
        throw "n8n-lens: $name.zip does not have the expected SHA-256, so nothing was installed. Run this again; if it happens twice, report it at https://github.com/n8n-lens/n8n-lens/issues"
    }
    Expand-Archive -Path $archive -DestinationPath $temporary
    New-Item -ItemType Directory -Path $folder -Force | Out-Null
    Copy-Item -Path (Join-Path $temporary "$name\n8n-lens.exe") -Destination $folder -Force
}
finally {
    Remove-Item -Path $temporary -Recurse -Force
}
Write-Output "n8n-lens $version is installed: $(Join-Path $folder 'n8n-lens.exe')"

if (($env:PATH -split ';') -contains $folder) {
    Write-Output 'Next, set N8N_URL and N8N_API_KEY, and run: n8n-lens check'
}
else {
    Write-Output "$folder is not in your PATH. Run this, and open a new terminal:"
    Write-Output "  [Environment]::SetEnvironmentVariable('PATH', `"$folder;`" + [Environment]::GetEnvironmentVariable('PATH', 'User'), 'User')"
}
