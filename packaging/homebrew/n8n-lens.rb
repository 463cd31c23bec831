class N8nLens < Formula
  desc "Debug n8n executions of any size and edit workflows, as an MCP server"
  homepage "https://github.com/n8n-lens/n8n-lens"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/n8n-lens/n8n-lens/releases/download/v{{version}}/n8n-lens-aarch64-apple-darwin-v{{version}}.tgz"
      sha256 "{{sha256 aarch64-apple-darwin}}"
    end
    on_intel do
      url "https://github.com/n8n-lens/n8n-lens/releases/download/v{{version}}/n8n-lens-x86_64-apple-darwin-v{{version}}.tgz"
      sha256 "{{sha256 x86_64-apple-darwin}}"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/n8n-lens/n8n-lens/releases/download/v{{version}}/n8n-lens-aarch64-unknown-linux-gnu-v{{version}}.tgz"
      sha256 "{{sha256 aarch64-unknown-linux-gnu}}"
    end
    on_intel do
      url "https://github.com/n8n-lens/n8n-lens/releases/download/v{{version}}/n8n-lens-x86_64-unknown-linux-gnu-v{{version}}.tgz"
      sha256 "{{sha256 x86_64-unknown-linux-gnu}}"
    end
  end

  def install
    bin.install "n8n-lens"
    generate_completions_from_executable(bin/"n8n-lens", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/n8n-lens --version")
    assert_match "get_execution", shell_output("#{bin}/n8n-lens tools --json")
  end
end
